#include "network_library.h"

#include <filesystem>

#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <unistd.h>

#include <tunesmith/network/plan_library.h>
#include <tunesmith/support/thread_pool.h>

#include "network_description.h"
#include "output.h"
#include "scratch_folder.h"

namespace tunesmith::cli {

namespace fs = std::filesystem;

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
  std::error_code error;
  fs::create_directories(folder, error);
  if (error)
    throw EnvironmentError(fmt::format("the folder {} cannot be made: {}", folder.string(), error.message()));
}

}  // namespace

void require_library(const TaskedNetwork& tasked, const Space& space, const NetworkArguments& arguments) {
  const ScratchFolder scratch(fs::path(output_folder(arguments)) / fmt::format(".tunesmith-{}", getpid()));
  make_folder(scratch.path());
  network::LibraryPlan plan;
  plan.name = library_name(arguments);
  plan.inputs = network::arguments_of(tasked.network, tasked.network.inputs);
  plan.outputs = network::arguments_of(tasked.network, tasked.network.outputs);
  write_library(plan, packaging_of(space), scratch.path().string());
}

std::string output_folder(const NetworkArguments& arguments) {
  return arguments.output.empty() ? "." : arguments.output;
}

std::string kernel_symbol(const TaskedNetwork& tasked, size_t task) {
  return fmt::format("kernel_{}_{}", task + 1, tasked.regions[tasked.tasks[task]].workload.name);
}

ShippingOptions shipping_options(const NetworkArguments& arguments, bool quiet) {
  ShippingOptions options;
  options.database = arguments.database;
  options.threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors());
  options.worker_threads = arguments.threads;
  options.quiet = quiet;
  return options;
}

BuiltNetwork write_network(const TaskedNetwork& tasked, std::span<const CompiledKernel* const> kernels,
                           const Space& space, const NetworkArguments& arguments, const std::string& folder) {
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
  make_folder(folder);
  BuiltNetwork built;
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
}

nlohmann::json built_json(const BuiltNetwork& built, const TaskedNetwork& tasked) {
  return {{"network", tasked.network.name},     {"kernels", tasked.regions.size()},
          {"memory_bytes", built.memory_bytes}, {"weight_bytes", built.weight_bytes},
          {"library", built.files.library},     {"header", built.files.header},
          {"weights", built.files.weights},     {"main_program", built.files.main_program},
          {"description", built.description}};
}

}  // namespace tunesmith::cli
