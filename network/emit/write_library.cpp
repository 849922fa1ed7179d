#include "tunesmith/network/write_library.h"

#include <cstring>
#include <filesystem>
#include <map>
#include <set>

#include <fmt/format.h>

#include "check_plan.h"
#include "library_source.h"
#include "tunesmith/network/plan_memory.h"
#include "tunesmith/support/files.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::network {
namespace {

namespace fs = std::filesystem;

std::string bytes_of_weights(const LibraryPlan& plan) {
  std::string bytes(static_cast<size_t>(plan.weight_bytes), '\0');
  for (const WeightPiece& piece : plan.weights) {
    if (!piece.bytes.empty()) std::memcpy(bytes.data() + piece.at, piece.bytes.data(), piece.bytes.size());
  }
  return bytes;
}

/// Corresponds to `struct head` of library_texts.h.
struct WeightsHead {
  char magic[8] = {'T', 'S', 'W', 'E', 'I', 'G', 'H', 'T'};
  uint64_t version = 1;
  uint64_t bytes = 0;
  uint64_t hash = 0;
  char unused[32] = {};
};
static_assert(sizeof(WeightsHead) == kTensorAlignment);

}  // namespace

void rehearse_library(const LibraryPlan& plan, Packaging& packaging, const std::string& directory) {
  check_plan(plan);
  std::set<std::string> symbols;
  for (const LibraryStep& step : plan.steps) symbols.insert(step.kernel->symbol);
  std::string source = library_source(plan, 0);
  for (const std::string& symbol : symbols)
    source +=
        fmt::format("void {}(void* const* b, void* w, tunesmith_parallel_for p, void* t) {{}}\n", symbol);
  packaging.link_library({{}, source, library_header(plan), exported_functions(plan), plan.name, directory});
}

NetworkFiles write_library(const LibraryPlan& plan, Packaging& packaging, const std::string& directory) {
  check_plan(plan);
  const std::string weights = bytes_of_weights(plan);
  WeightsHead head;
  head.bytes = weights.size();
  head.hash = hash_bytes(weights);

  std::map<std::string, const CompiledKernel*> kernels;
  for (const LibraryStep& step : plan.steps) kernels.emplace(step.kernel->symbol, step.kernel);
  LinkRequest request{
      {},       library_source(plan, head.hash), library_header(plan), exported_functions(plan), plan.name,
      directory};
  for (const auto& [symbol, kernel] : kernels) request.kernels.push_back(kernel);

  const fs::path folder = directory;
  // Link first: if the compiler fails, an older library keeps its weights.
  const LibraryFiles linked = packaging.link_library(request);
  NetworkFiles files{linked.library, linked.header, (folder / (plan.name + ".weights")).string(),
                     (folder / (plan.name + "_main.c")).string()};
  OutputFile file(files.weights);  // processes that have mapped the old file keep it
  file.stream().write(reinterpret_cast<const char*>(&head), sizeof head);
  file.stream().write(weights.data(), static_cast<std::streamsize>(weights.size()));
  file.commit();
  write_whole_file(files.main_program, main_program(plan));
  return files;
}

}  // namespace tunesmith::network
