// Tuning: a task that advances step by step (propose, build, verify and
// measure, record, learn), and the function that runs one to its end.
#pragma once

#include <atomic>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/measuring/machine_lock.h"
#include "tunesmith/records/environment.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/search/task_scheduler.h"
#include "tunesmith/space/space.h"
#include "tunesmith/tuning/plain_blocks.h"
#include "tunesmith/tuning/ranking.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

struct TuneOptions {
  int64_t trials = 256;  // measured candidates, including those resumed from records
  int64_t batch = 64;    // candidates per round
  uint64_t seed = 0;
  size_t threads = 0;             // for replaying and compiling; 0 = all
  double time_limit_seconds = 0;  // 0 = none
  /// tune() ends when the next round is expected to lower the time by less than this share
  /// (expected_share()). 0: off. For tasks in turn, TuneManyOptions::min_gain applies.
  double min_gain = 0;
  int final_candidates = 16;  // number ranked at the end: timed in turn, by successive halving
  int final_rounds = 40;      // rounds of the remaining programs, as far as time allows (InterleaveOptions)
  int measure_threads = 1;    // threads of the measured kernels: part of the task's identity
  /// Begin with the task's records. The final ranking includes the best on record in any case.
  bool resume = true;
  /// The runner's lock (MeasureOptions::machine): proposing and
  /// compiling wait while another run measures. None: they do not.
  std::shared_ptr<MachineLock> machine = {};
  std::string command = {};  // recorded as the run's command
  /// The cost model is loaded from this file if it exists, and saved to it at the end. "": neither.
  std::string model_file = {};
  /// False: the model file is only loaded.
  bool save_model = true;
  /// If little is on record, the search begins, after the plain forms, with the best of this number of draws
  /// (best_of_draws()), until kFirstTried of them are correct. 0: it begins with the searcher.
  int64_t first_draws = 0;
  /// Other tasks are tuned in turn with this one, so seeds are looked up again (SearchContext).
  bool in_turn = false;
};

/// The state of a run, for a live line.
struct TuneProgress {
  int64_t trials = 0;
  int64_t total = 0;
  std::optional<double> best_seconds;
  std::map<FailureCause, int64_t> failures;
  double elapsed_seconds = 0;
};

/// Cost-model accuracy on one round of candidates, before learning from them.
struct ModelBatch {
  int64_t trials = 0;             // before the round
  int64_t programs = 0;           // in the round, failures included as the slowest
  double rank_correlation = 0.0;  // Spearman's, of scores and throughputs: 1 for the same order, 0 for chance
  /// The best throughput among the eighth with the highest scores, divided by the round's best.
  double best_of_eighth = 0.0;
  /// Root mean square error of throughput (relative to the round's best) about the best-fitting
  /// line of the scores: a score need not be a throughput, so its scale does not matter.
  double rmse = 0.0;
};

/// The seeds from similar tasks that the searcher received.
struct SeedCounts {
  int64_t records = 0;  // programs on record
  int64_t tasks = 0;    // number of similar tasks that they belong to
};

/// Wall-clock time by activity; the rest of wall_seconds is the loop itself.
struct TuneTimes {
  double generate = 0;  // modules generating the space
  double propose = 0;   // searcher: replay, finishing, lowering, mutation
  double model = 0;
  double build = 0;
  double measure = 0;
  double wait = 0;  // for the machine lock; not included in the others
  double wall = 0;
};

/// A program on record that a ranking could not time again.
struct NotRanked {
  std::string record;  // its id
  double seconds = 0;  // its known time
  std::string why;
};

struct TuneResult {
  std::string best_id;     // record id; "" if there is no valid program
  std::string best_space;  // the space in which it was found, perhaps by another run
  Trace best_trace;
  double best_seconds = 0;  // the smallest sample of the search, or the ranking's time
  /// The final ranking's interval of the best; nothing without a ranking.
  std::optional<QuantileInterval> best_time;
  double best_prepare_seconds = 0;  // time of preparing the best one's constant inputs; 0: nothing to prepare
  /// The peak for the best one's share: peak_kernel(), the highest on record for the task
  /// on this machine, of any run (RecordStore::highest_roof). Nothing without a ranking.
  std::optional<RecordedRoof> peak;
  /// The peak in operations per second, by the 10th percentile of times measured in turn with the
  /// best candidates: far below `peak` means that the machine was disturbed. 0 without a ranking.
  double peak_beside = 0;
  double baseline_seconds = 0;  // of the unscheduled program
  int64_t trials = 0;
  int64_t valid = 0;
  int64_t resumed = 0;  // trials taken from records of the same run before an interruption
  int64_t known = 0;    // programs of the task on record at the beginning, of any run
  /// Only the plain programs were measured, and no other
  /// is on record: the budget was too small for a search.
  bool plain_alone = false;
  int64_t lost = 0;  // programs on record whose traces no longer give them
  /// Number of the fastest on record that only an older verifier had accepted:
  /// they were verified again before the ranking, and some were refused.
  int64_t checked_again = 0;
  int64_t refused_again = 0;
  /// The best on record that the ranking could not time again. They stay the best
  /// unless their trace gives another program now, or the program is refused.
  std::vector<NotRanked> dropped;
  SeedCounts seeded;      // none if the searcher did not ask
  int64_t disturbed = 0;  // successful measurements of this run in disturbed moments
  /// Twins of this run (twin_verification.h): how many were verified on each smaller workload, by its key.
  std::map<std::string, int64_t> twins;
  std::map<FailureCause, int64_t> failures;            // of measured candidates
  std::map<FailureCause, std::string> first_failures;  // the message of the first of each cause
  std::map<std::string, int64_t> refusals;             // refused drafts, by reason
  std::map<std::string, std::string> first_refusals;   // the detail of the first of each reason, if any
  double median_compile_seconds = 0;
  std::vector<ModelBatch> model_batches;  // of this process, of rounds of eight programs and more
  std::vector<ModelBatch> own_batches;    // for the searcher's own model (Searcher::expected)
  std::string model_dropped;              // why the run continued without the cost model; "" if it did not
  std::vector<PlainBlock> plain_blocks;   // those that all sketches of the space leave plain
  std::vector<std::string> said;          // by the searchers (SearchContext::say)
  TuneTimes times;
  std::string ended_because;  // "trials", "time limit", "expected gain", ...; "" before the end
  bool interrupted = false;
  bool exhausted = false;  // the searcher proposed nothing more, as in an exhausted space
};

/// Callbacks are called from the calling thread.
struct TuneHooks {
  /// Called before the first measurement with TuneResult::plain_blocks, if not empty.
  std::function<void(std::span<const PlainBlock>)> left_plain;
  std::function<void(const TuneProgress&)> progress;
  /// Each sentence of TuneResult::said when it is said.
  std::function<void(const std::string&)> said;
  /// After a record is safely in the store.
  std::function<void(const Record&)> recorded;
  /// Returns why a program may not be a candidate, as a constant sentence under
  /// which its drafts are counted; "" if it may. None: every program may.
  std::function<std::string(const Candidate&)> refuse;
  /// Set by a signal handler to stop soon with the best so far.
  const std::atomic<bool>* stop = nullptr;
};

/// One task. It has no loop of its own: its owner decides
/// when it advances, and may switch between tasks.
///
/// It begins with the history: all records of the task (workload, target and
/// code generator, threads, machine), of any space, searcher or seed, are
/// known to the search and not proposed again, except transient failures. The
/// search gets candidates with times of this run and the fastest 1,000 others.
/// Trials of this run before an interruption (same rules of the space, seed,
/// searchers and cost model) count as done. A repeatable searcher continues
/// exactly as without the interruption, if `batch` is unchanged.
///
/// The first two trials of a task are the unscheduled program, plain and
/// with outermost loops in parallel: no result is slower than these.
///
/// Called by one thread at a time. References must outlive it. All functions throw
/// PluginError and EnvironmentError; the constructor also throws UserError for a model
/// file. An exception ends the run; step() and finish() then throw InternalError.
class TuningTask {
 public:
  TuningTask(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
             const Environment& environment, const TuneOptions& options, TuneHooks hooks = {});
  ~TuningTask();
  TuningTask(const TuningTask&) = delete;
  TuningTask& operator=(const TuningTask&) = delete;

  /// Advances by at most `n` candidates, which are stored when it returns, and not beyond
  /// the current round of TuneOptions::batch. Returns the number of trials; 0 when done().
  int64_t step(int64_t n);
  /// All trials are made, the time limit is exceeded, a stop was requested, or nothing is left to propose.
  bool done() const;
  /// Trials so far, including those from records.
  int64_t trials() const;
  /// The programs that were faster than all previous ones; those on
  /// record of other runs count as found before the first trial.
  const std::vector<Improvement>& improvements() const;
  /// Times the best few again, in turn with the best on record, records this,
  /// and returns the task's best program on record, which `build` uses:
  /// RecordStore::best(). `because` is recorded as the reason for the end, if
  /// the task itself has none. Without `rank` nothing is timed again.
  TuneResult finish(std::string_view because = {}, bool rank = true);
  /// What finish() would return now without a ranking. Does not end the run.
  TuneResult so_far();
  /// RecordedRun::id of this run.
  const std::string& run() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Runs a task to its end. Every measured candidate is stored before it is reported.
TuneResult tune(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                const Environment& environment, const TuneOptions& options, const TuneHooks& hooks = {});

/// The key of the records for a space and a number of threads.
TaskKey task_key(const Workload& workload, const Space& space, int threads);

}  // namespace tunesmith
#pragma GCC visibility pop
