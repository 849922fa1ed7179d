// Tuning: a task that is advanced step by step (propose, build, verify and measure, record, learn), and the
// caller that drives one to its end.
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
  int64_t trials = 256;  // candidates measured, those resumed from the records included
  int64_t batch = 64;    // candidates a round
  uint64_t seed = 0;
  size_t threads = 0;             // for replaying and compiling; 0 = all
  double time_limit_seconds = 0;  // 0 = none
  /// tune() ends when a further round is expected to lower the time by less than this share
  /// (expected_share()). 0: it does not. Of tasks in turn, TuneManyOptions::min_gain counts.
  double min_gain = 0;
  int final_candidates = 16;  // ranked at the end: timed again, in turn, by successive halving
  int final_rounds = 40;      // of those that are left, as far as their time reaches (InterleaveOptions)
  int measure_threads = 1;    // that the runner's kernels use: part of the task, and for the peak
  /// Begin with what is on record of the task. The ranking at the end times the best on record in any case.
  bool resume = true;
  /// The runner's (MeasureOptions::machine): proposing and compiling do not continue beside another run's
  /// measuring. None: they do.
  std::shared_ptr<MachineLock> machine = {};
  std::string command = {};  // what the run says of itself in the records
  /// The cost model is loaded from there when it exists, and saved there at the end. "": neither.
  std::string model_file = {};
  /// False: it is only loaded.
  bool save_model = true;
  /// Begin with the first programs of so many draws (best_of_draws()): where little is on record, until
  /// kFirstTried of them are right, they are the trials behind the plain forms. 0: the searcher begins.
  int64_t first_draws = 0;
  /// Other tasks are tuned in turn with this one: what they find is asked for seeds again (SearchContext).
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

/// How well the cost model ordered one round of candidates, before it learned from them.
struct ModelBatch {
  int64_t trials = 0;             // before the round
  int64_t programs = 0;           // in it, failures among them as the slowest
  double rank_correlation = 0.0;  // Spearman's, of scores and throughputs: 1 in order, 0 as good as chance
  /// The best throughput among the eighth that was scored highest, over the best of the round.
  double best_of_eighth = 0.0;
  /// Root mean square of the error in throughput, where the round's best is 1, of the straight line of the
  /// scores that fits the round best: a score need not be a throughput, so its scale is not held against it.
  double rmse = 0.0;
};

/// What of other tasks the searcher was given to begin with.
struct SeedCounts {
  int64_t records = 0;  // programs on record
  int64_t tasks = 0;    // similar ones that these are of
};

/// Wall-clock by what it was spent on; the rest of wall_seconds is the loop itself.
struct TuneTimes {
  double generate = 0;  // the modules making the space
  double propose = 0;   // searcher: replay, finishing, lowering, mutation
  double model = 0;
  double build = 0;
  double measure = 0;
  double wait = 0;  // for the machine's turn; in none of the others
  double wall = 0;
};

/// A program on record that a ranking was to time again and did not.
struct NotRanked {
  std::string record;  // its id
  double seconds = 0;  // by which it was known
  std::string why;
};

struct TuneResult {
  std::string best_id;     // record id; "" when nothing valid was found
  std::string best_space;  // in which it was found, perhaps by another run
  Trace best_trace;
  double best_seconds = 0;  // the smallest sample of the search, or what the ranking says
  /// What the final ranking says of the best; nothing where there was none.
  std::optional<QuantileInterval> best_time;
  double best_prepare_seconds = 0;  // of preparing the best one's constant inputs once; 0: nothing to prepare
  /// Of peak_kernel(), what the best one's speed is a share of: the highest on record for the task on this
  /// machine, whichever run measured it (RecordStore::highest_roof). Nothing where nothing was ranked.
  std::optional<RecordedRoof> peak;
  /// Operations a second of it at the 10th percentile of its times, measured in turn with the best
  /// candidates: far below `peak`, something else used the machine then. 0 where nothing was ranked.
  double peak_beside = 0;
  double baseline_seconds = 0;  // the unscheduled program
  int64_t trials = 0;
  int64_t valid = 0;
  int64_t resumed = 0;  // of the trials: taken from the records of the same run, interrupted
  int64_t known = 0;    // programs of the task on record when the run began, whoever measured them
  /// Trials were made, and none but of the plain programs, nor is another on record: the budget held no
  /// search.
  bool plain_alone = false;
  int64_t lost = 0;  // programs on record that their traces do not give any more
  /// Of the fastest on record, those that only an earlier version of the check had accepted: they were
  /// checked again before they were ranked, and some were refused.
  int64_t checked_again = 0;
  int64_t refused_again = 0;
  /// Of the best on record, those that the ranking could not time again. Only those whose program is not
  /// given any more, or is refused now, are not the best any longer.
  std::vector<NotRanked> dropped;
  SeedCounts seeded;      // none when the searcher did not ask
  int64_t disturbed = 0;  // measured by this run, successfully, while something else used the machine
  /// By this run, as their twins (twin_verification.h): how many on which smaller workload, by its key.
  std::map<std::string, int64_t> twins;
  std::map<FailureCause, int64_t> failures;            // of measured candidates
  std::map<FailureCause, std::string> first_failures;  // the message of the first of each cause
  std::map<std::string, int64_t> refusals;  // drafts that were refused before they were candidates, by reason
  std::map<std::string, std::string> first_refusals;  // what the first of each reason named, where it did
  double median_compile_seconds = 0;
  std::vector<ModelBatch> model_batches;  // of this process, of rounds of eight programs and more
  std::vector<ModelBatch> own_batches;    // the same of the searcher's own model (Searcher::expected)
  std::string model_dropped;              // why the run continued without the cost model; "" when it did not
  std::vector<PlainBlock> plain_blocks;   // those that all sketches of the space leave plain
  std::vector<std::string> said;          // by the searchers (SearchContext::say)
  TuneTimes times;
  std::string ended_because;  // "trials", "time limit", "expected gain", ...; "" before its end
  bool interrupted = false;
  bool exhausted =
      false;  // nothing was left to propose: the space holds no further programs, or the searcher no ideas
};

/// Callbacks are called from the calling thread.
struct TuneHooks {
  /// Before any program is measured: TuneResult::plain_blocks, where there are any.
  std::function<void(std::span<const PlainBlock>)> left_plain;
  std::function<void(const TuneProgress&)> progress;
  /// Each sentence of TuneResult::said when it is said.
  std::function<void(const std::string&)> said;
  /// After a record is safely in the store.
  std::function<void(const Record&)> recorded;
  /// Why a program may not be a candidate, as a constant sentence under which its drafts are counted as
  /// refused; "" when it may. None: every program may.
  std::function<std::string(const Candidate&)> refuse;
  /// Set (by a signal handler) to stop soon with the best so far.
  const std::atomic<bool>* stop = nullptr;
};

/// One task being tuned. It has no loop of its own: whoever holds it says when it continues, and may put it
/// aside in between.
///
/// It begins with the history: everything on record of the task (workload, target and code generator,
/// threads, machine), whatever space, searcher or seed measured it, is known to the search from the
/// beginning, and is not proposed again, except failures that may have passed. As candidates, with their
/// times, a search is given this run's own and the fastest 1,000 of others. Of that, the trials of this
/// run itself, which was interrupted, count as done: those of the runs with the same rules of the space,
/// seed, searchers and cost model. A repeatable searcher goes the way that it would have gone without the
/// interruption, as long as `batch` is the same.
///
/// The first two trials of a task are the unscheduled program and its outermost loops in parallel: no answer
/// is slower than these.
///
/// Called by one thread at a time. Everything given by reference must outlive it. All functions throw
/// PluginError and EnvironmentError, the constructor also UserError, of a file of a model. What throws ends
/// the run; step() and finish() of a run that has ended throw InternalError.
class TuningTask {
 public:
  TuningTask(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
             const Environment& environment, const TuneOptions& options, TuneHooks hooks = {});
  ~TuningTask();
  TuningTask(const TuningTask&) = delete;
  TuningTask& operator=(const TuningTask&) = delete;

  /// Advances by at most `n` candidates, which are in the store when it returns, and never over the end of a
  /// round of TuneOptions::batch. Answers how many trials that were; 0 when done().
  int64_t step(int64_t n);
  /// All trials made, the time spent in steps over the limit, a stop asked for, or nothing left to propose.
  bool done() const;
  /// Trials so far, those taken from the records included.
  int64_t trials() const;
  /// The programs that were faster than all before them: what other runs left on record counts as found
  /// before the first trial.
  const std::vector<Improvement>& improvements() const;
  /// Times the best few again, in turn with the best on record, records that, and answers with the best
  /// program on record of the task, which is what `build` takes: RecordStore::best(). `because` is put on
  /// record as the reason why the run ended, where it is not the task's own doing. Without `rank` nothing is
  /// timed again.
  TuneResult finish(std::string_view because = {}, bool rank = true);
  /// What finish() would answer now without a ranking. The run has not ended by that.
  TuneResult so_far();
  /// RecordedRun::id of this run.
  const std::string& run() const;

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// Takes a task to its end. Every measured candidate is in `store` before it is reported.
TuneResult tune(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                const Environment& environment, const TuneOptions& options, const TuneHooks& hooks = {});

/// Of a space and a number of threads: what its records are kept under.
TaskKey task_key(const Workload& workload, const Space& space, int threads);

}  // namespace tunesmith
#pragma GCC visibility pop
