#include <algorithm>
#include <cstdio>
#include <limits>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <tunesmith/measuring/peak.h>
#include <tunesmith/target/separate_device.h>
#include <tunesmith/tuning/tuner.h>

#include "against.h"
#include "commands.h"
#include "common/exit_codes.h"
#include "common/interrupt.h"
#include "common/print_json.h"
#include "output.h"
#include "peaks.h"
#include "plain_report.h"
#include "progress/progress.h"
#include "task_list.h"
#include "tune_many.h"
#include "tune_report.h"
#include "tune_setup.h"

namespace tunesmith::cli {
namespace {

/// The number of trials of a run that only time ends.
constexpr int64_t kNoLimit = 1'000'000'000;

/// Prints a line at each tenth of the trials, for pipes and logs, where no line can be redrawn.
class ProgressLog {
 public:
  void update(const Progress& progress) {
    constexpr int64_t kEvery = 64;  // if there is no total
    const int64_t tenth = progress.total > 0 ? 10 * progress.done / progress.total : progress.done / kEvery;
    if (tenth <= last_) return;
    last_ = tenth;
    fmt::print(stderr, "{}\n", progress_text(progress, std::numeric_limits<size_t>::max()));
  }

 private:
  int64_t last_ = 0;
};

/// `seconds`: the time limit, if that and not the number of trials ends the run; else 0.
Progress progress_of(const TuneProgress& progress, const Workload& workload, double peak, double seconds,
                     bool modelled) {
  Progress line;
  line.modelled = modelled;
  line.done = progress.trials;
  line.total = seconds > 0.0 ? 0 : progress.total;
  line.best_seconds = progress.best_seconds;
  if (progress.best_seconds) {
    line.gflops = workload.flops / *progress.best_seconds * 1e-9;
    line.rate_unit = operations_unit(computed_type(workload.program));
    if (peak > 0.0) line.share_of_peak = workload.flops / *progress.best_seconds / peak;
  }
  for (const FailureCause cause : all_failure_causes()) {
    const auto found = progress.failures.find(cause);
    if (found != progress.failures.end())
      line.failures.emplace_back(failure_cause_name(cause), found->second);
  }
  if (seconds > 0.0) {
    line.seconds_left = std::max(0.0, seconds - progress.elapsed_seconds);
  } else if (progress.trials > 0) {
    line.seconds_left = progress.elapsed_seconds / static_cast<double>(progress.trials) *
                        static_cast<double>(progress.total - progress.trials);
  }
  return line;
}

/// Times the library of --against; null if none is requested, or there is no program to compare with.
nlohmann::json beside_it(const Common& common, const TuneArguments& arguments, const TuneResult& result,
                         LiveLine& line) {
  if (arguments.against.empty() || result.best_id.empty() || result.interrupted) return nullptr;
  line.say(fmt::format("timing {} beside the best program", arguments.against));
  nlohmann::json beside = time_against(common, arguments, result);
  line.clear();
  return beside;
}

/// `limited`: trials limit the run, not only time.
TuneOptions options_of(const Common& common, const TuneArguments& arguments, const Measuring& measuring,
                       bool limited) {
  TuneOptions options = tune_options(common, arguments, measuring);
  if (arguments.batch > 0) options.batch = arguments.batch;
  if (arguments.trials > 0) options.trials = arguments.trials;
  if (!limited) options.trials = kNoLimit;
  options.time_limit_seconds = seconds_limit(arguments);
  options.min_gain = min_gain(arguments, 1);
  return options;
}

/// 0 if programs are measured elsewhere.
double measured_peak(const Measuring& measuring, const Space& space, const Workload& workload,
                     RecordStore& store, LiveLine& line) {
  if (!measuring.here()) return 0.0;
  line.say("measuring the machine's peak");
  return Peaks(space, measuring.options(), measuring.threads(), store, measuring.environment()).of(workload);
}

int tune_one(const Common& common, const TuneArguments& arguments, const Workload& workload,
             const std::atomic<bool>& stop) {
  if (!arguments.against.empty()) require_against(arguments, workload);
  Session session(common);
  const SpaceSpec spec = searched_as_asked(session, arguments);
  const std::shared_ptr<MeasuringPlace> place = measuring_place(session, spec);
  const std::shared_ptr<const Space> composed = measured_space(session, spec, *place, arguments.threads);
  const Space& space = *composed;
  tell_refused(space);
  tell_unconsumed(space);
  RecordStore store = open_records(arguments.database);

  LiveLine line(common.quiet);
  const auto tell = [&](const std::string& text) {
    line.clear();
    fmt::print(stderr, "tunesmith: {}\n", text);
  };
  const Measuring measuring(place, session, space, measure_options(arguments, stop, tell),
                            database_path(arguments.database), tell);
  const double peak = measured_peak(measuring, space, workload, store, line);
  const std::unique_ptr<Runner> runner = measuring.runner(workload);

  const bool limited = arguments.trials > 0 || arguments.minutes <= 0.0;
  const TuneOptions options = options_of(common, arguments, measuring, limited);
  TuneHooks hooks;
  hooks.stop = &stop;
  hooks.left_plain = [&](std::span<const PlainBlock> blocks) {
    line.clear();
    tell_plain(blocks, "");
  };
  hooks.said = tell;
  ProgressLog log;
  hooks.progress = [&](const TuneProgress& progress) {
    const Progress now = progress_of(progress, workload, peak, limited ? 0.0 : options.time_limit_seconds,
                                     models_times(space.target()));
    if (line.active()) {
      line.update(now);
    } else if (!common.quiet) {
      log.update(now);
    }
  };
  line.say(fmt::format("generating the space of {}", workload.key));
  const TuneResult result = tune(workload, space, store, *runner, measuring.environment(), options, hooks);
  line.clear();
  if (!common.json) {
    // Print before timing the library, which may fail or be ended by Ctrl-C.
    print_summary(result, workload, space, limited ? options.trials : 0, arguments);
    std::fflush(output());
  }
  const nlohmann::json beside = beside_it(common, arguments, result, line);
  if (common.json) {
    nlohmann::json said = result_json(result, workload, space, measuring.environment());
    if (!arguments.against.empty()) said["against"] = beside;
    print_json(said);
  } else if (!beside.is_null()) {
    fmt::print(output(), "{}\n", beside.at("text").get<std::string>());
  }
  if (result.interrupted) return kInterrupted;
  return result.best_id.empty() ? kNothingFound : kDone;
}

}  // namespace

int run_tune(const Common& common, const TuneArguments& arguments) {
  const std::atomic<bool>& stop =
      stop_on_interrupt("tunesmith: interrupted; everything measured so far is recorded\n");
  const TaskList list = read_task_list(arguments);
  if (list.many && !arguments.against.empty()) throw UserError("--against takes only one workload");
  return list.many ? run_tune_many(common, arguments, list, stop)
                   : tune_one(common, arguments, list.tasks.front().workload, stop);
}

}  // namespace tunesmith::cli
