#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/support/progress.h>
#include <tunesmith/support/thread_pool.h>

#include "commands.h"
#include "exit_codes.h"
#include "output.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// A C identifier: "gmm_1x512" and the like become gmm_1x512.
std::string identifier(const std::string& text) {
  std::string name;
  for (const char c : text) name += std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
  if (name.empty() || std::isdigit(static_cast<unsigned char>(name.front())) != 0) name = "k" + name;
  return name;
}

struct Chosen {
  NamedTrace trace;
  std::string provenance;
};

Chosen choose(const BuildArguments& arguments, const Workload& workload, const Space& space) {
  if (!arguments.trace.empty()) {
    return {load_trace(arguments.trace, arguments.database),
            fmt::format("{}, trace {}", workload.key, arguments.trace)};
  }
  const Record best =
      best_record(workload, space, arguments.database, static_cast<int>(available_processors()));
  return {load_trace(best.id, arguments.database),
          fmt::format("{}, record {}, {}", workload.key, best.id, seconds_text(best.timing->median))};
}

}  // namespace

int run_build(const Common& common, const BuildArguments& arguments) {
  const Workload workload = WorkloadLibrary().load(arguments.workload);
  Session session(common);
  const std::unique_ptr<Space> space = session.space();
  const Chosen chosen = choose(arguments, workload, *space);
  const CandidatePtr candidate = materialise(*space, workload, chosen.trace);
  const std::string name = identifier(arguments.name.empty() ? workload.name : arguments.name);
  const auto kernel = space->target().compile(candidate->lowered, name + "_kernel");
  if (!kernel) throw EnvironmentError(fmt::format("{} does not compile: {}", workload.key, kernel.error()));
  std::filesystem::create_directories(arguments.output);
  const LibraryFiles files =
      space->target().build_library({&*kernel, &workload.program, name, arguments.output, chosen.provenance});
  if (common.json) {
    fmt::print(output(), "{}\n",
               nlohmann::json{{"workload", workload.key},
                              {"library", files.library},
                              {"header", files.header},
                              {"prepares", kernel->prepare.has_value()}}
                   .dump());
  } else {
    fmt::print(output(), "built {}\n      {}\n", files.library, files.header);
    if (kernel->prepare)
      fmt::print(output(), "call {}_prepare once before {}: the header says how\n", name, name);
  }
  return kDone;
}

}  // namespace tunesmith::cli
