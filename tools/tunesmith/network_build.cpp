// `network build`: the library of a network from the records of its tasks.
#include <deque>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/network/plain_kernels.h>
#include <tunesmith/network/plan_library.h>
#include <tunesmith/support/thread_pool.h>

#include "exit_codes.h"
#include "network_description.h"
#include "network_json.h"
#include "network_tasks.h"
#include "output.h"
#include "shipping.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

namespace fs = std::filesystem;

/// The kernels of all tasks. Tasks without a record are named in one error, or (`unscheduled`) have a program
/// without a schedule.
std::deque<CompiledKernel> kernels_of(const TaskedNetwork& tasked, const Shipper& shipper,
                                      const ShippingOptions& options, network::PlainKernels* unscheduled) {
  std::deque<CompiledKernel> kernels;
  std::vector<std::string> missing;
  const bool no_records = unscheduled != nullptr && !fs::exists(database_path(options.database));
  for (size_t i = 0; i < tasked.tasks.size(); ++i) {
    const Workload& workload = tasked.regions[tasked.tasks[i]].workload;
    try {
      kernels.push_back(
          no_records
              ? unscheduled->of(workload)
              : shipper.ship_best(workload, workload.key, fmt::format("kernel_{}_{}", i + 1, workload.name))
                    .kernel);
    } catch (const NoRecord&) {
      if (unscheduled != nullptr)
        kernels.push_back(unscheduled->of(workload));
      else
        missing.push_back(title_of(workload));
    }
  }
  if (!missing.empty())
    throw UserError(
        fmt::format("{} of {} tasks have no record in this space with {} threads on this machine:\n  {}\n",
                    missing.size(), tasked.tasks.size(), options.threads, fmt::join(missing, "\n  ")),
        "run: tunesmith network tasks FILE --output DIR, and then tunesmith tune DIR/tasks.yaml");
  return kernels;
}

}  // namespace

int run_network_build(const Common& common, const NetworkArguments& arguments) {
  if (!arguments.name.empty()) require_identifier(arguments.name);
  Session session(common);
  const TaskedNetwork tasked = read_tasks(session, arguments);
  const std::unique_ptr<Space> space = session.space();
  Packaging* const packaging = space->target().packaging();
  if (packaging == nullptr)
    throw UserError(fmt::format("the target of space '{}' builds no libraries", space->spec().name),
                    "choose a space of another target with --space");
  ShippingOptions options;
  options.database = arguments.database;
  options.threads = arguments.threads > 0 ? arguments.threads : static_cast<int>(available_processors());
  options.worker_threads = arguments.threads;
  options.quiet = common.json;
  network::PlainKernels unscheduled(space->target());
  const std::deque<CompiledKernel> kernels = kernels_of(tasked, Shipper(session, *space, options), options,
                                                        arguments.unscheduled ? &unscheduled : nullptr);

  std::vector<network::RegionKernel> regions;
  for (size_t i = 0; i < tasked.regions.size(); ++i) {
    const network::NodeWorkload& region = tasked.regions[i];
    const CompiledKernel& kernel = kernels[tasked.task_of[i]];
    regions.push_back({region.workload.name, region.inputs, region.outputs, &kernel,
                       prepare(tasked.network, region, kernel, space->target())});
  }
  const std::string name =
      arguments.name.empty() ? c_identifier(fs::path(arguments.file).stem().string()) : arguments.name;
  network::LibraryPlan plan = plan_library(tasked.network, regions, name);
  plan.provenance =
      fmt::format("the network {} of {}, {} kernels", tasked.network.name, arguments.file, regions.size());
  const std::string folder = arguments.output.empty() ? "." : arguments.output;
  fs::create_directories(folder);
  const network::NetworkFiles files = write_library(plan, *packaging, folder);
  const std::string description = write_description(describe_library(tasked, arguments, plan), folder);
  if (common.json) {
    print_network_json({{"network", tasked.network.name},
                        {"kernels", regions.size()},
                        {"memory_bytes", plan.arena_bytes},
                        {"weight_bytes", plan.weight_bytes},
                        {"library", files.library},
                        {"header", files.header},
                        {"weights", files.weights},
                        {"main_program", files.main_program},
                        {"description", description}});
    return kDone;
  }
  fmt::print(
      output(),
      "built {}\n      {}\n      {} ({} bytes)\n      {}\n      {}\n{} kernels a call, {} bytes of memory\n",
      files.library, files.header, files.weights, plan.weight_bytes, files.main_program, description,
      regions.size(), plan.arena_bytes);
  return kDone;
}

}  // namespace tunesmith::cli
