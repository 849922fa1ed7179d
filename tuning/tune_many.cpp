#include "tunesmith/tuning/tune_many.h"

#include <algorithm>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "relay.h"
#include "runner_pool.h"
#include "tunesmith/support/error.h"
#include "tunesmith/support/monotonic_clock.h"
#include "tunesmith/tuning/similar_tasks.h"

namespace tunesmith {
namespace {

using Phase = TuneManyProgress::Phase;

/// Seconds for building the best programs and starting a worker, before a ranking's timing.
constexpr double kRankingStart = 1.0;

/// For one task without a limit of trials.
constexpr int64_t kNoLimit = 1'000'000'000;

class ManyTasks {
 public:
  ManyTasks(std::span<const WeightedTask> given, const Space& space, RecordStore& store,
            const MakeRunner& make_runner, const Environment& environment, const TuneManyOptions& options,
            const TuneManyHooks& hooks)
      : given_(given),
        space_(space),
        store_(store),
        environment_(environment),
        options_(options),
        hooks_(hooks),
        scheduler_(space.create_task_scheduler()),
        relay_(options.rounds_at_once),
        runners_([&](size_t task) { return make_runner(given_[task]); }, runner_bytes(given),
                 options.runner_bytes, relay_) {}

  TuneManyResult run() {
    try {
      open();
      search();
      return finish();
    } catch (const std::exception& error) {
      relay_.end();  // before the tasks are destroyed
      try {
        end_runs(fmt::format("error: {}", error.what()));
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the store itself may be what failed
      }
      throw;
    }
  }

 private:
  /// A task in progress.
  struct Open {
    std::unique_ptr<TuningTask> task;
    double seconds = 0.0;      // of its rounds in this process
    int64_t trials_begun = 0;  // at the start of this process
    bool idle = false;         // its last round had no trials
    int64_t asked = 0;         // trials of the round under way; 0: none
    int64_t ends_at = 0;       // trials of the task after the round
    double round_began = 0.0;  // of the round under way
    std::string error;
  };

  static std::vector<double> runner_bytes(std::span<const WeightedTask> tasks) {
    std::vector<double> bytes;
    for (const WeightedTask& task : tasks) bytes.push_back(task.runner_bytes);
    return bytes;
  }

  void open() {
    TuneOptions each = options_.task;
    each.trials = options_.trials > 0 ? options_.trials : kNoLimit;
    each.time_limit_seconds = 0;
    each.save_model = false;
    each.in_turn = true;
    for (const WeightedTask& task : given_) {
      TaskHistory history;
      history.weight = task.weight;
      history.group = similarity_group(task.workload);
      history.operations = task.workload.flops;
      histories_.push_back(std::move(history));
    }
    tasks_.resize(given_.size());
    for (size_t i = 0; i < given_.size() && !stopped(); ++i) {
      report(Phase::Opening, i);
      TuneHooks hooks;
      hooks.stop = hooks_.stop;
      hooks.progress = [this, i](const TuneProgress& /*of_the_task*/) {
        update(i);
        report(Phase::Searching, i);
      };
      hooks.left_plain = [this, i](std::span<const PlainBlock> blocks) {
        if (hooks_.left_plain) hooks_.left_plain(i, blocks);
      };
      hooks.said = [this, i](const std::string& sentence) {
        if (hooks_.said) hooks_.said(i, sentence);
      };
      hooks.recorded = [this, i](const Record& record) {
        if (record.failure) ++failed_;
        if (hooks_.recorded) hooks_.recorded(i, record);
      };
      // An error here, such as an invalid model file, concerns all tasks.
      tasks_[i].task = std::make_unique<TuningTask>(given_[i].workload, space_, store_, runners_.of(i),
                                                    environment_, each, std::move(hooks));
      tasks_[i].trials_begun = tasks_[i].task->trials();
      update(i);
    }
  }

  /// A workload that cannot be measured must not stop the others. Its run has already ended on record.
  void heed(size_t i, const std::exception_ptr& failed) {
    if (!failed) return;
    try {
      std::rethrow_exception(failed);
    } catch (const UserError& error) {
      tasks_[i].error = error.what();
      tasks_[i].task = nullptr;
      if (hooks_.refused) hooks_.refused(i, tasks_[i].error);
    } catch (const std::exception&) {
      tasks_[i].task = nullptr;
      throw;
    }
  }

  /// Brings the history up to date.
  void update(size_t i) {
    histories_[i].trials = tasks_[i].task->trials();
    const std::vector<Improvement>& improvements = tasks_[i].task->improvements();
    std::vector<Improvement>& known = histories_[i].improvements;
    known.insert(known.end(), improvements.begin() + static_cast<std::ptrdiff_t>(known.size()),
                 improvements.end());
  }

  /// Rounds count in the order in which they began to wait, so the choice does not depend on their durations.
  void search() {
    for (;;) {
      while (!relay_.full()) {
        const std::optional<size_t> chosen = choose();
        if (!chosen) break;
        begin_round(*chosen);
      }
      if (relay_.empty()) return;
      if (const std::optional<Relay::Done> done = relay_.go_on()) end_round(*done);
    }
  }

  std::optional<size_t> choose() {
    if (stopped() || trials_left() < 1 || seconds_left() <= 0.0) return std::nullopt;
    for (size_t i = 0; i < tasks_.size(); ++i) histories_[i].done = ended(i) || tasks_[i].asked > 0;
    const TaskSet set = task_set();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!histories_[i].done && little_to_gain(set, i)) histories_[i].done = true;
    }
    const std::optional<size_t> fewest = set.fewest_trials();
    if (!fewest || histories_[*fewest].trials == 0) return fewest;
    return scheduler_->next(set);
  }

  TaskSet task_set() const { return {histories_, options_.task.batch, options_.goal}; }

  bool ended(size_t i) const { return tasks_[i].task == nullptr || tasks_[i].idle || tasks_[i].task->done(); }

  bool little_to_gain(const TaskSet& set, size_t i) const {
    return histories_[i].trials >= set.round && options_.min_gain > 0.0 &&
           expected_share(set, i) < options_.min_gain;
  }

  void begin_round(size_t i) {
    report(Phase::Searching, i);
    Open& open = tasks_[i];
    open.round_began = now_seconds();
    const int64_t round = histories_[i].trials == 0 ? first_round() : options_.task.batch;
    open.asked = std::min({round, trials_left(), affordable(i)});
    open.ends_at = histories_[i].trials + open.asked;
    relay_.begin(i, [this, i, &open] {
      open.idle = open.task->step(open.asked) == 0;
      update(i);
    });
  }

  void end_round(const Relay::Done& done) {
    Open& open = tasks_[done.name];
    open.asked = 0;
    // Rounds that run at once share the time.
    open.seconds += (now_seconds() - open.round_began) /
                    static_cast<double>(std::max<size_t>(1, options_.rounds_at_once));
    heed(done.name, done.error);
  }

  /// For a task without trials: fewer than a round if the budget would leave others without any.
  int64_t first_round() const {
    int64_t waiting = 0;
    int64_t done = 0;
    double seconds = 0.0;
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (!ended(i) && histories_[i].trials == 0 && tasks_[i].asked == 0) ++waiting;
      done += histories_[i].trials - tasks_[i].trials_begun;
      seconds += tasks_[i].seconds;
    }
    int64_t trials = trials_left() / waiting;
    if (options_.seconds > 0.0 && done > 0) {
      const double in_time =
          seconds_left() * static_cast<double>(done) / seconds / static_cast<double>(waiting);
      trials = std::min(trials, static_cast<int64_t>(std::min(in_time, 1e9)));
    }
    return std::clamp(trials, int64_t{1}, options_.task.batch);
  }

  /// As many trials as fit the remaining time at the task's own pace.
  int64_t affordable(size_t i) const {
    const int64_t done = histories_[i].trials - tasks_[i].trials_begun;
    if (options_.seconds <= 0.0 || done < 1) return options_.task.batch;
    const double trials = seconds_left() * static_cast<double>(done) / tasks_[i].seconds;
    return std::clamp(static_cast<int64_t>(trials), int64_t{1}, options_.task.batch);
  }

  bool stopped() const { return hooks_.stop != nullptr && hooks_.stop->load(); }
  double elapsed() const { return now_seconds() - began_; }

  int64_t trials() const {
    int64_t trials = 0;
    for (const TaskHistory& history : histories_) trials += history.trials;
    return trials;
  }
  int64_t trials_left() const {
    if (options_.trials <= 0) return std::numeric_limits<int64_t>::max();
    int64_t left = options_.trials - trials();
    for (size_t i = 0; i < tasks_.size(); ++i) {
      if (tasks_[i].asked > 0) left -= std::max<int64_t>(0, tasks_[i].ends_at - histories_[i].trials);
    }
    return left;
  }

  /// For rounds: without the time reserved for rankings.
  double seconds_left() const {
    if (options_.seconds <= 0.0) return std::numeric_limits<double>::infinity();
    double kept_back = 0.0;
    for (const TaskHistory& history : histories_) kept_back += ranking_seconds(history);
    return options_.seconds - elapsed() - kept_back;
  }

  double ranking_seconds(const TaskHistory& history) const {
    if (history.improvements.empty()) return 0.0;
    const InterleaveOptions usual;
    // The peak's kernel is timed in turn with them.
    const double round = history.best() * (options_.task.final_candidates + 1);
    const double rounds = std::min(round * options_.task.final_rounds, usual.budget_seconds);
    return kRankingStart + std::max(rounds, round * usual.min_rounds);
  }

  TuneManyResult finish() {
    TuneManyResult result;
    const TaskSet set = task_set();
    std::vector<std::string> reasons;
    for (size_t i = 0; i < tasks_.size(); ++i) reasons.push_back(reason(set, i));
    rank_all(reasons, result);
    for (size_t i = 0; i < tasks_.size(); ++i) {
      TaskOutcome& outcome = result.tasks[i];
      outcome.ended_because = std::move(reasons[i]);
      outcome.error = tasks_[i].error;
      outcome.history = histories_[i];
    }
    result.interrupted = stopped();
    end_runs("interrupted");
    result.trials = trials();
    result.seconds = elapsed();
    return result;
  }

  void rank_all(const std::vector<std::string>& reasons, TuneManyResult& result) {
    result.tasks.resize(tasks_.size());
    const auto go_on = [&] {
      const std::optional<Relay::Done> done = relay_.go_on();
      if (!done) return;
      heed(done->name, done->error);
      tasks_[done->name].task = nullptr;
    };
    for (size_t i = 0; i < tasks_.size(); ++i) {
      while (relay_.full()) go_on();
      if (!tasks_[i].task) continue;
      TuneResult& of = result.tasks[i].result;
      if (stopped()) {  // the user is waiting
        of = tasks_[i].task->so_far();
        continue;
      }
      relay_.begin(i, [this, i, &of, &because = reasons[i]] {
        report(Phase::Ranking, i);
        const bool in_time = options_.seconds <= 0.0 || elapsed() < options_.seconds;
        of = tasks_[i].task->finish(because, in_time);
      });
    }
    while (!relay_.empty()) go_on();
  }

  /// Records the end of runs that have not ended; without an end they count as killed.
  void end_runs(const std::string& because) {
    std::vector<std::string> ids;
    for (const Open& open : tasks_) {
      if (open.task) ids.push_back(open.task->run());
    }
    if (!ids.empty()) store_.end_runs(ids, now_ms(), because);
  }

  /// Why the task got no further round.
  std::string reason(const TaskSet& set, size_t i) const {
    if (!tasks_[i].error.empty()) return "error: " + tasks_[i].error;
    if (stopped()) return "interrupted";
    const bool all_trials = options_.trials > 0 && histories_[i].trials >= options_.trials;
    if (ended(i) && !all_trials) return "nothing left to propose";
    return little_to_gain(set, i) ? "expected gain" : "shared budget";
  }

  void report(Phase phase, size_t task) const {
    if (hooks_.progress) hooks_.progress({phase, task, histories_, trials(), failed_, elapsed()});
  }

  const double began_ = now_seconds();
  const std::span<const WeightedTask> given_;
  const Space& space_;
  RecordStore& store_;
  const Environment& environment_;
  const TuneManyOptions& options_;
  const TuneManyHooks& hooks_;
  const std::shared_ptr<TaskScheduler> scheduler_;
  Relay relay_;
  RunnerPool runners_;
  std::vector<Open> tasks_;
  std::vector<TaskHistory> histories_;
  int64_t failed_ = 0;
};

}  // namespace

TuneManyResult tune_many(std::span<const WeightedTask> tasks, const Space& space, RecordStore& store,
                         const MakeRunner& make_runner, const Environment& environment,
                         const TuneManyOptions& options, const TuneManyHooks& hooks) {
  check_invariant(!tasks.empty(), "many tasks are at least one");
  return ManyTasks(tasks, space, store, make_runner, environment, options, hooks).run();
}

}  // namespace tunesmith
