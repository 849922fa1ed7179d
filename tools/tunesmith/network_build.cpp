// `network build`: the library of a network from the records of its tasks.
#include <deque>
#include <filesystem>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/network/plain_kernels.h>

#include "choose_in_place.h"
#include "exit_codes.h"
#include "network_json.h"
#include "network_library.h"
#include "output.h"
#include "traces.h"

namespace tunesmith::cli {
namespace {

/// The kernels of all tasks. Tasks without a record are named in one error, or (`unscheduled`) have a program
/// without a schedule.
std::deque<CompiledKernel> kernels_of(const TaskedNetwork& tasked, const Shipper& shipper,
                                      const ShippingOptions& options, network::PlainKernels* unscheduled) {
  std::deque<CompiledKernel> kernels;
  std::vector<std::string> missing;
  const bool no_records = unscheduled != nullptr && !std::filesystem::exists(database_path(options.database));
  for (size_t i = 0; i < tasked.tasks.size(); ++i) {
    const Workload& workload = tasked.regions[tasked.tasks[i]].workload;
    try {
      kernels.push_back(no_records
                            ? unscheduled->of(workload)
                            : shipper.ship_best(workload, workload.key, kernel_symbol(tasked, i)).kernel);
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
        "run: tunesmith network tune FILE");
  return kernels;
}

}  // namespace

int run_network_build(const Common& common, const NetworkArguments& arguments) {
  if (!arguments.name.empty()) require_identifier(arguments.name);
  Session session(common);
  const TaskedNetwork tasked = read_tasks(session, arguments);
  const std::unique_ptr<Space> space = session.space();
  require_library(tasked, *space, arguments);
  network::PlainKernels unscheduled(space->target());
  std::deque<CompiledKernel> best;
  ChosenPrograms chosen;
  if (arguments.in_place) {
    chosen = choose_in_place(session, *space, tasked, arguments, common.quiet || common.json);
  } else {
    const ShippingOptions options = shipping_options(arguments, common.json);
    best = kernels_of(tasked, Shipper(session, *space, options), options,
                      arguments.unscheduled ? &unscheduled : nullptr);
    for (const CompiledKernel& kernel : best) chosen.kernels.push_back(&kernel);
  }
  const BuiltNetwork built =
      write_network(tasked, chosen.kernels, *space, arguments, output_folder(arguments));
  if (common.json) {
    nlohmann::json said = built_json(built, tasked);
    if (arguments.in_place) said["in_place"] = chosen_json(chosen);
    print_network_json(said);
    return kDone;
  }
  if (arguments.in_place) print_chosen(chosen);
  print_built(built, tasked);
  return kDone;
}

}  // namespace tunesmith::cli
