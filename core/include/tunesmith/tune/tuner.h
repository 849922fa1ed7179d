// The tuning loop of one workload: propose, build, verify and measure, record, learn.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tunesmith/measure/environment.h"
#include "tunesmith/measure/machine_lock.h"
#include "tunesmith/measure/runner.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tune/ranking.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

struct TuneOptions {
  int64_t trials = 256;  // candidates measured, those resumed from the records included
  int64_t batch = 64;    // candidates a round
  uint64_t seed = 0;
  size_t threads = 0;             // for replaying and compiling; 0 = all
  double time_limit_seconds = 0;  // 0 = none
  int final_candidates = 5;       // ranked at the end: timed again, in turn
  int final_rounds = 40;          // of the ranking, as far as its time reaches (InterleaveOptions)
  int measure_threads = 1;        // that the runner's kernels use: for the peak
  bool resume = true;             // take up earlier records of the same task, seed and rules
  /// The runner's (MeasureOptions::machine): proposing and compiling do not go on beside another run's
  /// measuring. None: they do.
  std::shared_ptr<MachineLock> machine;
};

/// The state of a run, for a live line.
struct TuneProgress {
  int64_t trials = 0;
  int64_t total = 0;
  std::optional<double> best_seconds;
  std::map<FailureCause, int64_t> failures;
  double elapsed_seconds = 0;
};

/// Wall-clock by what it was spent on; the rest of wall_seconds is the loop itself.
struct TuneTimes {
  double propose = 0;  // searcher: replay, finishing, lowering, mutation
  double model = 0;
  double build = 0;
  double measure = 0;
  double wall = 0;
};

struct TuneResult {
  std::string best_id;  // record id; "" when nothing valid was found
  Trace best_trace;
  double best_seconds = 0;  // the smallest sample of the search, or what the ranking says
  /// What the final ranking says of the best; nothing where there was none.
  std::optional<QuantileInterval> best_time;
  double best_prepare_seconds = 0;  // of preparing the best one's constant inputs once; 0: nothing to prepare
  /// Operations a second of the target's peak kernel at the 10th percentile of its times, measured in turn
  /// with the best candidates: what their speed is a share of.
  double peak_operations_per_second = 0;
  double baseline_seconds = 0;  // the unscheduled program
  int64_t trials = 0;
  int64_t valid = 0;
  int64_t resumed = 0;
  int64_t disturbed = 0;  // measured by this run, successfully, while something else used the machine
  std::map<FailureCause, int64_t> failures;  // of measured candidates
  std::map<std::string, int64_t> refusals;  // drafts that were refused before they were candidates, by reason
  double median_compile_seconds = 0;
  TuneTimes times;
  bool interrupted = false;
};

/// Callbacks are called from the calling thread.
struct TuneHooks {
  std::function<void(const TuneProgress&)> progress;
  /// After a record is safely in the store.
  std::function<void(const Record&)> recorded;
  /// Set (by a signal handler) to stop soon with the best so far.
  const std::atomic<bool>* stop = nullptr;
};

/// Runs the search. Every measured candidate is in `store` before it is reported. Throws PluginError,
/// EnvironmentError.
TuneResult tune(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                const Environment& environment, const TuneOptions& options, const TuneHooks& hooks = {});

}  // namespace tunesmith
