// `network tune`: tunes all tasks of a network under one budget, then builds its library.
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/records/record.h>
#include <tunesmith/tuning/first_program.h>

#include "choosing.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "library.h"
#include "memory.h"
#include "next_command.h"
#include "output.h"
#include "say.h"
#include "tune/tune_many.h"

namespace tunesmith::cli {
namespace {

struct NetworkTasks {
  TaskList list;
  std::vector<size_t> positions;  // the position in the network of each task in the list
  AsWritten too_large;            // tasks that there is too little memory to measure
};

NetworkTasks tasks_of(const TaskedNetwork& tasked, bool allow_memory) {
  NetworkTasks tasks;
  tasks.list.many = tasks.list.weighted = true;
  const std::vector<int64_t> counts = counts_of(tasked);
  const double available = available_bytes();
  for (size_t i = 0; i < tasked.tasks.size(); ++i) {
    const Workload& workload = tasked.workload(i);
    const std::string title = title_of(workload);
    if (const std::optional<std::string> lacking = memory_lacking(workload, available)) {
      say(fmt::format("{}: {}; {}", title, *lacking,
                      allow_memory ? "continuing because of --allow-memory"
                                   : "it is not tuned and keeps its unscheduled program"));
      if (!allow_memory) {
        tasks.too_large[i] = *lacking;
        continue;
      }
    }
    tasks.list.tasks.push_back(weighted_task(instantiate({workload.hash, workload.key, workload.definition}),
                                             static_cast<double>(counts[i])));
    tasks.list.names.push_back(title);
    tasks.positions.push_back(i);
  }
  if (tasks.list.tasks.empty())
    throw UserError("not enough memory to measure any task of the network",
                    "choose smaller extents, or measure anyway with --allow-memory");
  return tasks;
}

/// The network's tasks without a program, with the reasons, after tuning.
AsWritten reasons_of(const NetworkTasks& tasks, const TunedMany& tuned) {
  AsWritten reasons = tasks.too_large;
  for (const auto& [task, why] : tuned.without) reasons[tasks.positions[task]] = why;
  return reasons;
}

}  // namespace

int run_network_tune(const Common& common, const NetworkTuneArguments& arguments) {
  const std::atomic<bool>& stop =
      stop_on_interrupt("tunesmith: interrupted; everything measured so far is recorded\n");
  NetworkArguments asked = arguments.network;
  if (!asked.name.empty()) require_identifier(asked.name);
  Session session(common);
  const TaskedNetwork tasked = read_tasks(session, asked);
  const std::unique_ptr<Space> space = session.space();
  const network::LibrarySource source = library_source(asked);
  rehearse_network(tasked, packaging_of(*space), source, output_folder(asked));
  const NetworkTasks tasks = tasks_of(tasked, arguments.tune.allow_memory);
  TuneArguments tuning = arguments.tune;
  tuning.first_draws = kDefaultDraws;
  const TunedMany tuned = tune_tasks(common, tuning, tasks.list, stop);
  nlohmann::json said = {{"tuning", tuned.summary}, {"built", nullptr}, {"in_place", nullptr}};
  const bool interrupted = tuned.code == kInterrupted;
  if (!interrupted && !tuned.builds) {
    if (!common.json)
      fmt::print(output(), "no library built; next: {}\n", build_there(common, arguments.tune.database));
  } else if (!interrupted) {
    const MissingPrograms missing{true, reasons_of(tasks, tuned)};
    const bool quiet = common.quiet || common.json;
    if (!tuned.here) {
      asked.threads = tuned.threads;
      asked.machine = tuned.machine;
    }
    const ChosenForNetwork programs = tuned.here
                                          ? choose_in_place(session, *space, tasked, asked, missing, quiet)
                                          : choose_alone(session, *space, tasked, asked, missing, quiet);
    const network::BuiltNetwork built =
        build_network(tasked, programs.chosen.kernels,
                      network::ProgramNotes{programs.programs.as_written, {}, programs.programs.intervals},
                      space->target(), packaging_of(*space), source, output_folder(asked));
    if (!common.json) {
      print_chosen(programs.chosen);
      print_built(built, tasked);
    }
    said["built"] = built_json(built, tasked);
    said["in_place"] = chosen_json(programs.chosen);
  } else if (!common.json) {
    fmt::print(output(), "no library built; run the same command to continue\n");
  }
  if (common.json) print_json(said);
  return interrupted ? kInterrupted : kDone;
}

}  // namespace tunesmith::cli
