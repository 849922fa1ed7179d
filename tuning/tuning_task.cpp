#include <algorithm>
#include <optional>
#include <set>
#include <span>
#include <type_traits>
#include <utility>

#include <fmt/format.h>

#include "evaluator.h"
#include "expectations.h"
#include "final_ranking.h"
#include "first_programs.h"
#include "history.h"
#include "known_results.h"
#include "proposals.h"
#include "resume.h"
#include "rounds.h"
#include "run_record.h"
#include "seed_source.h"
#include "stop_rule.h"
#include "stopwatch.h"
#include "task.h"
#include "trial_log.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

/// The parts of a run, each after the parts that it needs, and their order of work.
struct TuningTask::State {
  State(const Workload& tuned, const Space& in, RecordStore& records, Runner& measuring,
        const Environment& environment, const TuneOptions& wanted, TuneHooks given)
      : workload(tuned),
        space(in),
        store(records),
        machine(environment.machine()),
        options(wanted),
        hooks(std::move(given)),
        key(task_key(tuned, in, wanted.measure_threads)),
        run(make_run(in, environment, wanted)),
        names(tuned, records, in.intrinsics()),
        context(tuned, in, wanted.seed, wanted.threads),
        evaluator(tuned, in, records, measuring, names, common_record(key, run, names.workload()), options,
                  hooks, context.pool()),
        log(result, wanted.final_candidates),
        rule(options, hooks, result),
        known(context, log),
        seeds(tuned, records, key, machine, options, log),
        proposals(in, wanted.trials, context, evaluator, seeds, result.times.propose),
        first(tuned, in, wanted.first_draws, context, evaluator, known),
        rounds(context, evaluator, known, log, rule, result.model_batches),
        ranking(tuned, in, records, measuring, evaluator, names, options, machine) {
    result.times.generate = result.times.wall = context.generate_seconds();
    const Stopwatch watch(result.times.wall);
    look_for_plain_blocks();
    log.report_to([this] { report_progress(); });
    store.add_environment(environment);
    store.add_space({run.space, run.rules_hash, space.rules()});
    store.add_run(run);
    context.refuse_by(hooks.refuse);
    context.say_to(hooks.said);
    or_end_run([&] {
      if (!options.model_file.empty()) context.load_model(options.model_file);
      if (options.resume) begin_with_history();
      proposals.add_plain_forms(workload.program, space.target(), known, log);
    });
  }

  /// Records an error as the end of the run; without an end it counts as killed.
  template <typename Work>
  std::invoke_result_t<const Work&> or_end_run(const Work& work) {
    try {
      return work();
    } catch (const std::exception& error) {
      if (std::exchange(ended, true)) throw;
      try {
        store.end_run(run.id, now_ms(), fmt::format("error: {}", error.what()));
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the store itself may be what failed
      }
      throw;
    }
  }

  void look_for_plain_blocks() {
    const Stopwatch watch(result.times.generate);
    result.plain_blocks = plain_blocks(space, workload.program, context.sketch_set());
    std::erase_if(result.plain_blocks, [&](const PlainBlock& block) {
      return block.sketches < context.sketch_set().sketches.size();
    });
    if (hooks.left_plain && !result.plain_blocks.empty()) hooks.left_plain(result.plain_blocks);
  }

  void begin_with_history() {
    RecordFilter filter;
    filter.task = key;
    filter.machine = machine;
    History history(workload, space, store, filter, run, names);
    Resumed before = resume_run(history, context, log, space, options);
    result.known = before.known;
    result.lost = before.lost;
    known.begin(std::move(before));
  }

  bool done() const {
    const bool enough = rule.enough() && !known.has_retried();
    return enough || proposals.exhausted() || rule.stopped() || rule.late();
  }

  int64_t step(int64_t n) {
    check_invariant(!ended, "a run that has ended makes no step");
    if (done() || n < 1) return 0;
    const StopRule::Step timed(rule);
    const int64_t before = rule.trials();
    if (known.has_retried()) rounds.run_again(known.take_retried());
    const int64_t end = std::min(before + n, before - before % options.batch + options.batch);
    run_without_search(end);
    while (rule.room(end) > 0 && !rule.late()) {
      std::vector<CandidatePtr> proposed = proposals.next(rule.trials(), rule.room(end));
      if (proposals.exhausted()) break;
      if (!proposed.empty() && !try_out(std::move(proposed), end)) break;
    }
    if (proposals.exhausted()) learn_cut_round();
    return rule.trials() - before;
  }

  /// Runs the plain forms and first programs, as far as there is room before `end`.
  void run_without_search(int64_t end) {
    const auto room = [&] {
      return static_cast<size_t>(rule.late() ? 0 : std::max<int64_t>(rule.room(end), 0));
    };
    if (proposals.has_plain_forms()) rounds.run(proposals.take_plain_forms(room()), end);
    while (!proposals.has_plain_forms() && room() > 0) {
      std::vector<CandidatePtr> next = first.next(room());
      if (next.empty()) return;
      first.note(rounds.run(std::move(next), end));
    }
  }

  /// A round of the current searcher, which learns from it. False if it had no trial.
  bool try_out(std::vector<CandidatePtr> proposed, int64_t end) {
    Searcher& searcher = *proposals.searcher();
    const Expectations own(searcher, proposed);
    const int64_t begun = rule.trials();
    const size_t cut = known.left_of_cut_round();
    const std::vector<Measured> results = rounds.run(std::move(proposed), end);
    if (const std::optional<ModelBatch> batch = own.evaluate_model(results, begun))
      result.own_batches.push_back(*batch);
    searcher.observe(context, results);
    if (results.size() > cut - known.left_of_cut_round()) learn_cut_round();
    return rule.trials() > begun;
  }

  void learn_cut_round() {
    if (known.left_of_cut_round() == 0) return;
    const std::vector<Measured> rest = known.take_cut_round();
    context.learn(rest);
    if (Searcher* const searcher = proposals.searcher()) searcher->observe(context, rest);
  }

  void report_progress() const {
    if (!hooks.progress || !rule.in_step()) return;
    TuneProgress progress{result.trials, options.trials, {}, result.failures, rule.seconds()};
    if (log.leaders().seconds() > 0.0) progress.best_seconds = log.leaders().seconds();
    hooks.progress(progress);
  }

  TuneResult finish(std::string_view because, bool ranked) {
    check_invariant(!ended, "a run ends once");
    {
      const Stopwatch watch(result.times.wall);
      const WaitingWatch waiting(result.times.wait, options.machine.get());
      const std::vector<Measured> leaders = log.leaders().all();
      if (ranked && !leaders.empty() && !rule.stopped())
        ranking.rank(leaders, unchecked(leaders), run, key, InterleaveOptions().budget_seconds, result);
      result.ended_because = because.empty() ? rule.why_ended() : because;
      store.end_run(run.id, now_ms(), result.ended_because);
      ended = true;
      if (!options.model_file.empty() && options.save_model) context.save_model(options.model_file);
    }
    return so_far();
  }

  std::set<uint64_t> unchecked(std::span<const Measured> leaders) const {
    std::set<uint64_t> unchecked;
    for (const Measured& one : leaders) {
      if (known.is_unchecked(one.candidate->lowered_hash)) unchecked.insert(one.candidate->lowered_hash);
    }
    return unchecked;
  }

  TuneResult so_far() {
    take_best_on_record();
    result.plain_alone = plain_alone();
    result.interrupted = rule.stopped();
    result.exhausted = proposals.exhausted() && !result.interrupted && !rule.enough();
    result.seeded = context.seeded();
    result.said = context.said();
    result.model_dropped = context.model_dropped();
    result.median_compile_seconds = evaluator.median_compile_seconds();
    result.refusals = context.refusals();
    result.first_refusals = context.first_refusals();
    result.times.model = context.model_seconds();
    result.times.build = evaluator.build_seconds();
    result.times.measure = evaluator.measure_seconds();
    result.disturbed = evaluator.disturbed();
    result.twins = evaluator.twins();
    return result;
  }

  bool plain_alone() const {
    const MeasuredHistory& history = context.history();
    for (size_t i = 0; i < history.size(); ++i) {
      if (!proposals.is_plain(history.lowered_hash(i))) return false;
    }
    return result.trials > 0 && result.known <= std::ssize(history);
  }

  void take_best_on_record() {
    constexpr size_t kLookedAt = 64;
    for (const Record& record : store.best({key, machine, {}}, kLookedAt)) {
      const CandidatePtr candidate = candidate_of(record, workload, space, names);
      if (!candidate) continue;
      result.best_id = record.id;
      result.best_space = record.space;
      result.best_trace = candidate->trace;
      result.best_seconds = record.seconds;
      result.best_prepare_seconds = record.timing->prepare;
      if (record.run == run.id) result.best_time = ranking.time_of(record.lowered_hash);
      return;
    }
  }

  const Workload& workload;
  const Space& space;
  RecordStore& store;
  const uint64_t machine;
  const TuneOptions options;
  const TuneHooks hooks;
  const TaskKey key;
  const RecordedRun run;
  const RecordedNames names;
  Task context;
  Evaluator evaluator;
  TuneResult result;
  TrialLog log;
  StopRule rule;       // when to stop
  KnownResults known;  // recorded results
  SeedSource seeds;
  Proposals proposals;  // proposes candidates
  FirstPrograms first;  // proposes before `proposals`
  Rounds rounds;        // measures candidates and learns
  FinalRanking ranking;
  bool ended = false;  // the end is on record
};

TuningTask::TuningTask(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                       const Environment& environment, const TuneOptions& options, TuneHooks hooks)
    : state_(
          std::make_unique<State>(workload, space, store, runner, environment, options, std::move(hooks))) {}
TuningTask::~TuningTask() = default;
int64_t TuningTask::step(int64_t n) {
  return state_->or_end_run([&] { return state_->step(n); });
}
bool TuningTask::done() const { return state_->done(); }
int64_t TuningTask::trials() const { return state_->rule.trials(); }
const std::vector<Improvement>& TuningTask::improvements() const { return state_->log.improvements(); }
TuneResult TuningTask::so_far() {
  return state_->or_end_run([&] { return state_->so_far(); });
}
const std::string& TuningTask::run() const { return state_->run.id; }
TuneResult TuningTask::finish(std::string_view because, bool rank) {
  return state_->or_end_run([&] { return state_->finish(because, rank); });
}

}  // namespace tunesmith
