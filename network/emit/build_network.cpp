#include "tunesmith/network/build_network.h"

#include <deque>
#include <filesystem>

#include <fmt/format.h>

#include "tunesmith/network/library_description.h"
#include "tunesmith/network/plan_library.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/files.h"

namespace tunesmith::network {
namespace {

namespace fs = std::filesystem;

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw UserError(SourceLocation{folder.string()},
                    fmt::format("cannot create the folder: {}", failed.message()));
}

/// Removes those folders up to `folder` that did not exist before, if they are empty at the end.
class NewFolders {
 public:
  explicit NewFolders(fs::path folder) {
    std::error_code ignored;
    for (; !folder.empty() && !fs::exists(folder, ignored); folder = folder.parent_path())
      missing_.push_back(folder);
  }
  ~NewFolders() {
    std::error_code ignored;
    for (const fs::path& folder : missing_) fs::remove(folder, ignored);
  }
  NewFolders(const NewFolders&) = delete;
  NewFolders& operator=(const NewFolders&) = delete;

 private:
  std::vector<fs::path> missing_;  // the innermost first
};

}  // namespace

void rehearse_network(const TaskedNetwork& tasked, Packaging& packaging, const LibrarySource& source,
                      const std::string& folder) {
  // Kernels that do nothing.
  std::deque<CompiledKernel> kernels;
  for (size_t task = 0; task < tasked.tasks.size(); ++task)
    kernels.emplace_back().symbol = kernel_symbol(tasked, task);
  std::vector<RegionKernel> regions;
  for (size_t i = 0; i < tasked.regions.size(); ++i) {
    const NodeWorkload& region = tasked.regions[i];
    regions.push_back({region.workload.name, region.inputs, region.outputs, &kernels[tasked.task_of[i]], {}});
  }
  const LibraryPlan plan = plan_library(tasked, regions, source.name);
  const NewFolders made(folder);
  const ScratchFolder scratch(fs::path(folder) / "rehearsal");
  for (const fs::path& each : {fs::path(folder), scratch.path()}) make_folder(each);
  rehearse_library(plan, packaging, scratch.path().string());
}

BuiltNetwork build_network(const TaskedNetwork& tasked, std::span<const CompiledKernel* const> kernels,
                           const ProgramNotes& notes, Target& target, Packaging& packaging,
                           const LibrarySource& source, const std::string& folder) {
  std::vector<RegionKernel> regions;
  for (size_t i = 0; i < tasked.regions.size(); ++i) {
    const NodeWorkload& region = tasked.regions[i];
    const CompiledKernel& kernel = *kernels[tasked.task_of[i]];
    regions.push_back({region.workload.name, region.inputs, region.outputs, &kernel,
                       prepare(tasked.network, region, kernel, target)});
  }
  LibraryPlan plan = plan_library(tasked, regions, source.name);
  plan.provenance =
      fmt::format("the network {} of {}, {} kernels", tasked.network.name, source.file, regions.size());
  BuiltNetwork built;
  for (const auto& [task, why] : notes.as_written) {
    built.as_written.emplace_back(title_of(tasked.workload(task)), why);
    plan.provenance += fmt::format("\nunscheduled: {}: {}", built.as_written.back().first, why);
  }
  for (const auto& [task, how] : notes.untuned) {
    built.untuned.emplace_back(title_of(tasked.workload(task)), how);
    plan.provenance += fmt::format("\n{}", how);
  }
  for (size_t task = 0; task < kernels.size(); ++task) {
    const auto found = notes.intervals.find(kernels[task]);
    if (found == notes.intervals.end()) continue;
    built.intervals.emplace_back(title_of(tasked.workload(task)), found->second);
    plan.provenance += fmt::format("\n{}: {}", built.intervals.back().first, found->second);
  }
  make_folder(folder);
  built.files = write_library(plan, packaging, folder);
  built.description = write_description(describe_library(tasked, source, plan), folder);
  built.memory_bytes = plan.arena_bytes;
  built.weight_bytes = plan.weight_bytes;
  return built;
}

}  // namespace tunesmith::network
