#include "network_library.h"

#include <deque>
#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/network/plan_library.h>
#include <tunesmith/support/thread_pool.h>

#include "network_description.h"
#include "output.h"
#include "scratch_folder.h"

namespace tunesmith::cli {

namespace fs = std::filesystem;

std::string output_folder(const NetworkArguments& arguments) {
  return arguments.output.empty() ? "." : arguments.output;
}

std::string kernel_symbol(const TaskedNetwork& tasked, size_t task) {
  return fmt::format("kernel_{}_{}", task + 1, tasked.regions[tasked.tasks[task]].workload.name);
}

namespace {

Packaging& packaging_of(const Space& space) {
  if (Packaging* const packaging = space.target().packaging()) return *packaging;
  throw UserError(fmt::format("the target of space '{}' builds no libraries", space.spec().name),
                  "choose a space of another target with --space");
}

std::string library_name(const NetworkArguments& arguments) {
  return arguments.name.empty() ? c_identifier(fs::path(arguments.file).stem().string()) : arguments.name;
}

void make_folder(const fs::path& folder) {
  std::error_code failed;
  fs::create_directories(folder, failed);
  if (failed)
    throw UserError(SourceLocation{folder.string()},
                    fmt::format("the folder cannot be made: {}", failed.message()));
}

/// Removes the folders on the way to `folder` that are not there yet, if they are empty at the end.
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

ShippingOptions shipping_options(const NetworkArguments& arguments, bool quiet) {
  ShippingOptions options;
  options.database = arguments.database;
  options.threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors());
  options.worker_threads = arguments.threads;
  options.quiet = quiet;
  return options;
}

void require_library_can_be_written(const TaskedNetwork& tasked, const Space& space,
                                    const NetworkArguments& arguments) {
  // Kernels that do nothing.
  std::deque<CompiledKernel> kernels;
  for (size_t task = 0; task < tasked.tasks.size(); ++task)
    kernels.emplace_back().symbol = kernel_symbol(tasked, task);
  std::vector<network::RegionKernel> regions;
  for (size_t i = 0; i < tasked.regions.size(); ++i) {
    const network::NodeWorkload& region = tasked.regions[i];
    regions.push_back({region.workload.name, region.inputs, region.outputs, &kernels[tasked.task_of[i]], {}});
  }
  const network::LibraryPlan plan = plan_library(tasked.network, regions, library_name(arguments));
  const NewFolders made(output_folder(arguments));
  const ScratchFolder scratch(fs::path(output_folder(arguments)) / "rehearsal");
  for (const fs::path& folder : {fs::path(output_folder(arguments)), scratch.path()}) make_folder(folder);
  rehearse_library(plan, packaging_of(space), scratch.path().string());
}

BuiltNetwork write_network(const TaskedNetwork& tasked, std::span<const CompiledKernel* const> kernels,
                           const AsWritten& as_written, const Space& space, const NetworkArguments& arguments,
                           const std::string& folder) {
  std::vector<network::RegionKernel> regions;
  for (size_t i = 0; i < tasked.regions.size(); ++i) {
    const network::NodeWorkload& region = tasked.regions[i];
    const CompiledKernel& kernel = *kernels[tasked.task_of[i]];
    regions.push_back({region.workload.name, region.inputs, region.outputs, &kernel,
                       prepare(tasked.network, region, kernel, space.target())});
  }
  network::LibraryPlan plan = plan_library(tasked.network, regions, library_name(arguments));
  plan.provenance =
      fmt::format("the network {} of {}, {} kernels", tasked.network.name, arguments.file, regions.size());
  BuiltNetwork built;
  for (const auto& [task, why] : as_written) {
    built.as_written.emplace_back(title_of(tasked.regions[tasked.tasks[task]].workload), why);
    plan.provenance +=
        fmt::format("\nas it is written, without a schedule: {}: {}", built.as_written.back().first, why);
  }
  make_folder(folder);
  built.files = write_library(plan, packaging_of(space), folder);
  built.description = write_description(describe_library(tasked, arguments, plan), folder);
  built.memory_bytes = plan.arena_bytes;
  built.weight_bytes = plan.weight_bytes;
  return built;
}

void print_built(const BuiltNetwork& built, const TaskedNetwork& tasked) {
  fmt::print(
      output(),
      "built {}\n      {}\n      {} ({} bytes)\n      {}\n      {}\n{} kernels a call, {} bytes of memory\n",
      built.files.library, built.files.header, built.files.weights, built.weight_bytes,
      built.files.main_program, built.description, tasked.regions.size(), built.memory_bytes);
  if (built.as_written.empty()) return;
  fmt::print(output(), "{} of {} tasks are as they are written, without a schedule:\n",
             built.as_written.size(), tasked.tasks.size());
  for (const auto& [title, why] : built.as_written) fmt::print(output(), "  {}: {}\n", title, why);
}

nlohmann::json built_json(const BuiltNetwork& built, const TaskedNetwork& tasked) {
  nlohmann::json as_written = nlohmann::json::array();
  for (const auto& [title, why] : built.as_written) as_written.push_back({{"name", title}, {"why", why}});
  return {{"network", tasked.network.name},     {"kernels", tasked.regions.size()},
          {"memory_bytes", built.memory_bytes}, {"weight_bytes", built.weight_bytes},
          {"library", built.files.library},     {"header", built.files.header},
          {"weights", built.files.weights},     {"main_program", built.files.main_program},
          {"description", built.description},   {"as_written", as_written}};
}

}  // namespace tunesmith::cli
