#include "tune_many.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <map>
#include <mutex>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/target/separate_device.h>

#include "common/exit_codes.h"
#include "common/print_json.h"
#include "many_progress.h"
#include "next_command.h"
#include "output.h"
#include "peaks.h"
#include "plain_report.h"
#include "progress/progress.h"
#include "say.h"
#include "task_table.h"
#include "tune_report.h"
#include "tune_setup.h"

namespace tunesmith::cli {
namespace {

/// Each task's first trials: its unscheduled program, as it is and with parallel outermost loops.
constexpr int64_t kPlainTrials = 2;

const char* goal_name(TuningGoal goal) { return goal == TuningGoal::TotalTime ? "total" : "geomean"; }

/// Totals over the tasks that have a working program and, for shares and gains, both numbers.
struct Summary {
  double total_seconds = 0.0;     // weighted sum
  double baseline_seconds = 0.0;  // of the unscheduled programs, weighted sum
  double mean_gain = 1.0;         // weighted geometric mean
  double mean_share = 1.0;        // of the peak, weighted geometric mean
  size_t without = 0;             // tasks without a working program
};

Summary summary_of(const TuneManyResult& result, const TaskList& list) {
  Summary summary;
  double weights = 0.0;
  double shared = 0.0;
  double gain = 0.0;
  double share = 0.0;
  for (size_t i = 0; i < result.tasks.size(); ++i) {
    const TuneResult& one = result.tasks[i].result;
    if (one.best_id.empty()) {
      ++summary.without;
      continue;
    }
    const double weight = list.tasks[i].weight;
    if (one.baseline_seconds > 0.0) {
      summary.total_seconds += weight * one.best_seconds;
      summary.baseline_seconds += weight * one.baseline_seconds;
      gain += weight * std::log(one.baseline_seconds / one.best_seconds);
      weights += weight;
    }
    if (one.peak) {
      share += weight * std::log(list.tasks[i].workload.flops / one.best_seconds / one.peak->per_second);
      shared += weight;
    }
  }
  if (weights > 0.0) summary.mean_gain = std::exp(gain / weights);
  if (shared > 0.0) summary.mean_share = std::exp(share / shared);
  if (shared <= 0.0) summary.mean_share = 0.0;
  return summary;
}

nlohmann::json many_json(const TuneManyResult& result, const TaskList& list, const TuneManyOptions& options,
                         const Space& space, const Environment& environment) {
  nlohmann::json tasks = nlohmann::json::array();
  for (size_t i = 0; i < result.tasks.size(); ++i) {
    const TaskOutcome& outcome = result.tasks[i];
    nlohmann::json task = result_json(outcome.result, list.tasks[i].workload, space, environment);
    task.erase("environment");
    task["name"] = list.names[i];
    task["weight"] = list.tasks[i].weight;
    task["trials"] = outcome.history.trials;
    task["ended_because"] = outcome.ended_because;
    task["error"] = outcome.error.empty() ? nlohmann::json(nullptr) : nlohmann::json(outcome.error);
    nlohmann::json improvements = nlohmann::json::array();
    for (const Improvement& improvement : outcome.history.improvements)
      improvements.push_back({improvement.trials, improvement.seconds});
    task["improvements"] = improvements;
    tasks.push_back(std::move(task));
  }
  const Summary summary = summary_of(result, list);
  return {{"tasks", tasks},
          {"environment", nlohmann::json::parse(environment.text())},
          {"space", space.spec().name},
          {"task_scheduler", space.spec().task_scheduler.id},
          {"goal", goal_name(options.goal)},
          {"trials", result.trials},
          {"interrupted", result.interrupted},
          {"wall_seconds", result.seconds},
          {"total_seconds", summary.total_seconds},
          {"baseline_seconds", summary.baseline_seconds},
          {"mean_gain", summary.mean_gain},
          {"mean_share_of_peak",
           summary.mean_share > 0.0 ? nlohmann::json(summary.mean_share) : nlohmann::json(nullptr)}};
}

std::vector<TaskRow> final_rows(const TuneManyResult& result, const TaskList& list, int64_t round) {
  std::vector<TaskRow> rows;
  for (size_t i = 0; i < result.tasks.size(); ++i) {
    const TaskOutcome& outcome = result.tasks[i];
    TaskRow row{list.names[i],
                list.tasks[i].weight,
                {},
                {},
                {},
                outcome.history.trials,
                outcome.error.empty() ? trend_text(outcome.history, round) : "refused"};
    if (const TuneResult& one = outcome.result; !one.best_id.empty()) {
      row.seconds = one.best_seconds;
      if (one.peak)
        row.share_of_peak = list.tasks[i].workload.flops / one.best_seconds / one.peak->per_second;
      if (one.baseline_seconds > 0.0) row.gain = one.baseline_seconds / one.best_seconds;
    }
    rows.push_back(std::move(row));
  }
  return rows;
}

/// Prints remarks on single tasks.
void print_each(const TuneManyResult& result, const TaskList& list) {
  std::vector<std::string> plain;
  for (size_t i = 0; i < result.tasks.size(); ++i) {
    print_dropped(result.tasks[i].result, fmt::format("  {}: ", list.names[i]));
    if (result.tasks[i].result.plain_alone) plain.push_back(list.names[i]);
  }
  if (!plain.empty() && !result.interrupted)
    fmt::print(output(), "  {} not searched, as the budget covers only their unscheduled programs: {}\n",
               plain.size(), fmt::join(plain, ", "));
  size_t unreached = 0;
  for (size_t i = 0; i < result.tasks.size(); ++i) {
    const TaskOutcome& outcome = result.tasks[i];
    if (!outcome.error.empty())
      fmt::print(output(), "  {}: {}\n", list.names[i], outcome.error);
    else if (!outcome.result.best_id.empty() || result.interrupted)
      continue;
    else if (outcome.result.trials == 0)
      ++unreached;
    else
      fmt::print(output(), "  {}: no valid program found\n", list.names[i]);
  }
  if (unreached > 0)
    fmt::print(output(), "  {} not started, as the budget was spent; run the same command to continue\n",
               unreached);
}

void print_many(const TuneManyResult& result, const TaskList& list, const TuneManyOptions& options,
                bool modelled) {
  int64_t valid = 0;
  int64_t resumed = 0;
  int64_t seeds = 0;
  int64_t seeded = 0;
  size_t unranked = 0;
  std::map<std::string, size_t> reasons;
  for (const TaskOutcome& outcome : result.tasks) {
    valid += outcome.result.valid;
    resumed += outcome.result.resumed;
    seeds += outcome.result.seeded.records;
    if (outcome.result.seeded.records > 0) ++seeded;
    if (!outcome.result.best_id.empty() && !outcome.result.peak) ++unranked;
    if (outcome.error.empty()) ++reasons[outcome.ended_because];
  }
  fmt::print(output(), "{} tasks: {} trials, {} valid{}, {}{}\n", result.tasks.size(), result.trials, valid,
             resumed > 0 ? fmt::format(", {} from records", resumed) : "", duration_text(result.seconds),
             result.interrupted ? ", interrupted" : "");
  const std::vector<TaskRow> rows = final_rows(result, list, options.task.batch);
  for (const std::string& line : table_lines(rows, std::numeric_limits<size_t>::max(), "best"))
    fmt::print(output(), "  {}\n", line);
  if (std::ranges::any_of(rows, [](const TaskRow& row) { return row.share_of_peak > 1.0; }))
    fmt::print(output(), "  {}\n", kAbovePeak);
  if (modelled) print_modelled_note();
  const Summary summary = summary_of(result, list);
  if (summary.baseline_seconds > 0.0) {
    fmt::print(output(), "  together  {}{}; the unscheduled programs {}, {:.1f} times as much\n",
               seconds_text(summary.total_seconds), list.weighted ? ", times their weights" : "",
               seconds_text(summary.baseline_seconds), summary.baseline_seconds / summary.total_seconds);
    fmt::print(
        output(), "  mean      {:.1f} times as fast as unscheduled{} (geometric)\n", summary.mean_gain,
        summary.mean_share > 0.0 ? fmt::format(", {:.1f} % of the peak", 100.0 * summary.mean_share) : "");
  }
  if (seeded > 0) fmt::print(output(), "  {} seeded by {} records of similar tasks\n", seeded, seeds);
  for (const auto& [reason, count] : reasons) {
    if (reason != "shared budget" && reason != "interrupted")
      fmt::print(output(), "  {} stopped before the budget was spent: {}{}\n", count, reason,
                 reason == "expected gain" ? " (--min-gain 0: continue)" : "");
  }
  if (unranked > 0) {
    fmt::print(output(), "  {} not ranked{}: their best time is the smallest sample of the search\n",
               unranked, result.interrupted ? "" : ", as the time was up");
  }
  print_each(result, list);
}

std::map<size_t, std::string> without_program(const TuneManyResult& result) {
  std::map<size_t, std::string> without;
  for (size_t i = 0; i < result.tasks.size(); ++i) {
    const TaskOutcome& outcome = result.tasks[i];
    if (!outcome.error.empty())
      without[i] = outcome.error;
    else if (outcome.result.best_id.empty())
      without[i] = outcome.result.trials > 0 ? "no valid program found"
                                             : "the budget was spent before its first trial";
  }
  return without;
}

int exit_code(const TuneManyResult& result) {
  if (result.interrupted) return kInterrupted;
  if (std::ranges::any_of(result.tasks, [](const TaskOutcome& one) { return !one.error.empty(); }))
    return kBadInput;
  return std::ranges::any_of(result.tasks, [](const TaskOutcome& one) { return one.result.best_id.empty(); })
             ? kNothingFound
             : kDone;
}

void tell_begin(int64_t tasks, const TuneManyOptions& options, const Space& space) {
  fmt::print(stderr, "tunesmith: tuning {} tasks for {}; task scheduler: {}\n", tasks,
             options.goal == TuningGoal::TotalTime ? "the sum of weight * time"
                                                   : "the geometric mean of their times",
             space.spec().task_scheduler.id);
  if (options.trials > 0 && options.trials <= kPlainTrials * tasks)
    fmt::print(stderr,
               "tunesmith: {} trials cover only the unscheduled programs of {} tasks: --trials {} allows a "
               "round for each\n",
               options.trials, tasks, options.task.batch * tasks);
}

/// The peak of each task; 0 on other machines.
std::vector<double> peaks_of(const TaskList& list, const Measuring& measuring, Peaks& peaks) {
  std::vector<double> peak_of;
  for (const WeightedTask& task : list.tasks)
    peak_of.push_back(measuring.here() ? peaks.of(task.workload) : 0.0);
  return peak_of;
}

}  // namespace

TunedMany tune_tasks(const Common& common, const TuneArguments& arguments, const TaskList& list,
                     const std::atomic<bool>& stop) {
  Session session(common);
  const SpaceSpec spec = searched_as_asked(session, arguments);
  const std::shared_ptr<MeasuringPlace> place = measuring_place(session, spec);
  const std::shared_ptr<const Space> composed = measured_space(session, spec, *place, arguments.threads);
  const Space& space = *composed;
  tell_refused(space);
  tell_unconsumed(space);
  RecordStore store = open_records(arguments.database);
  ManyProgress* shown = nullptr;
  std::mutex showing;  // runners call `tell` from threads of their own
  const auto tell = [&](const std::string& text) {
    const std::lock_guard lock(showing);
    if (shown != nullptr) shown->clear();
    fmt::print(stderr, "tunesmith: {}\n", text);
  };
  const Measuring measuring(place, session, space, measure_options(arguments, stop, tell),
                            database_path(arguments.database), tell);
  const Environment& environment = measuring.environment();
  const TuneManyOptions options = many_options(common, arguments, list, measuring);
  if (!common.quiet) tell_begin(static_cast<int64_t>(list.tasks.size()), options, space);
  Peaks peaks(space, measuring.options(), measuring.threads(), store, environment);
  ManyProgress progress(common.quiet, list, peaks_of(list, measuring, peaks), options);
  shown = &progress;
  TuneManyHooks hooks;
  hooks.stop = &stop;
  hooks.progress = [&](const TuneManyProgress& now) {
    const std::lock_guard lock(showing);
    progress.update(now);
  };
  const auto between_updates = [&](const auto& print) {
    const std::lock_guard lock(showing);
    progress.clear();
    print();
  };
  hooks.left_plain = [&](size_t task, std::span<const PlainBlock> blocks) {
    between_updates([&] { tell_plain(blocks, list.names[task]); });
  };
  hooks.said = [&](size_t task, const std::string& sentence) {
    between_updates([&] { say(fmt::format("{}: {}", list.names[task], sentence)); });
  };
  hooks.refused = [&](size_t task, const std::string& error) {
    if (!common.quiet)
      between_updates([&] { fmt::print(stderr, "tunesmith: {}: {}\n", list.names[task], error); });
  };
  const MakeRunner make_runner = [&](const WeightedTask& task) { return measuring.runner(task.workload); };
  const TuneManyResult result = tune_many(list.tasks, space, store, make_runner, environment, options, hooks);
  progress.clear();
  TunedMany tuned{exit_code(result), {}, without_program(result), measuring.here()};
  tuned.builds = space.target().packaging() != nullptr;
  tuned.machine = environment.machine();
  tuned.threads = measuring.threads();
  if (common.json) {
    tuned.summary = many_json(result, list, options, space, environment);
  } else {
    print_many(result, list, options, models_times(space.target()));
  }
  return tuned;
}

int run_tune_many(const Common& common, const TuneArguments& arguments, const TaskList& list,
                  const std::atomic<bool>& stop) {
  const TunedMany tuned = tune_tasks(common, arguments, list, stop);
  if (common.json) {
    print_json(tuned.summary);
  } else if (tuned.code == kDone && !tuned.builds) {
    fmt::print(output(), "next: {}\n", build_there(common, arguments.database));
  } else if (tuned.code == kDone) {
    fmt::print(output(), "next: {}  writes the best program of a task as a C library\n",
               spoken_command(with_same_place({"build", list.names.front()}, common, arguments.database,
                                              arguments.threads)));
  }
  return tuned.code;
}

}  // namespace tunesmith::cli
