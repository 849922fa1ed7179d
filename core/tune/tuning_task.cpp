#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <utility>

#include <fmt/format.h>

#include "tune/evaluator.h"
#include "tune/expectations.h"
#include "tune/history.h"
#include "tune/leaders.h"
#include "tune/measuring_watch.h"
#include "tune/plain_forms.h"
#include "tune/rank.h"
#include "tune/run_record.h"
#include "tune/stopwatch.h"
#include "tune/task.h"
#include "tunesmith/tune/tuner.h"

namespace tunesmith {
namespace {

/// Candidates handed to the runner at once: few, so that a stop is heeded soon and records are written as
/// they come.
constexpr size_t kGroup = 8;
/// What takes longer than this, in seconds, is not repeated while nothing is known to be faster: the
/// unscheduled program may take a thousand times as long as what is found.
constexpr double kFirstLimit = 0.01;

}  // namespace

struct TuningTask::State {
  State(const Workload& tuned, const Space& in, RecordStore& records, Runner& measuring,
        const Environment& environment, const TuneOptions& wanted, TuneHooks given)
      : workload(tuned),
        space(in),
        store(records),
        runner(measuring),
        machine(environment.machine()),
        options(wanted),
        hooks(std::move(given)),
        key(task_key(tuned, in, wanted.measure_threads)),
        run(make_run(in, environment, wanted)),
        names(tuned, records),
        context(tuned, in, wanted.seed, wanted.threads),
        evaluator(in, records, measuring, names, common_record(key, run, names.workload()), options, hooks,
                  context.pool()),
        leaders(wanted.final_candidates) {
    result.times.generate = result.times.wall = context.generate_seconds();
    const Stopwatch watch(result.times.wall);
    store.add_environment(environment);
    store.add_space({run.space, run.rules_hash, space.rules()});
    store.add_run(run);
    context.refuse_by(hooks.refuse);
    or_end_run([&] {
      if (!options.model_file.empty()) context.load_model(options.model_file);
      if (options.resume) context.seed_by([this] { return seeds_on_record(); });
      if (options.resume) begin_with_history();
      add_plain_forms();
    });
  }

  /// What ends the run is on record; without an end it was killed.
  template <typename Work>
  std::invoke_result_t<const Work&> or_end_run(const Work& work) {
    try {
      return work();
    } catch (const std::exception& error) {
      try {
        store.end_run(run.id, now_ms(), fmt::format("error: {}", error.what()));
      } catch (const Error&) {  // NOLINT(bugprone-empty-catch): the store itself may be what failed
      }
      throw;
    }
  }

  // ---- Beginning ----

  void begin_with_history() {
    RecordFilter filter;
    filter.task = key;
    filter.machine = machine;
    filter.attributed = true;
    History history = load_history(workload, space, store, filter, run, names, context.pool());
    result.known = static_cast<int64_t>(history.programs.size() + history.others.size());
    context.note_measured(history.others);
    result.lost = history.lost;
    began_ms = history.own_since_ms.value_or(0);
    const auto own = std::ranges::count_if(history.programs, &KnownProgram::own);
    // The last round may have been cut short: it is proposed again from what was known before it.
    int64_t whole = own;
    if (own < options.trials) {
      const int64_t begun = own - own % options.batch;
      result.trials = begun;
      if (begun < own && enter_stage() && searcher->repeatable()) whole = begun;
      result.trials = 0;
    }
    for (const KnownProgram& program : history.programs) {
      if (!program.own) note_improvement(program.measured, 0);
    }
    std::vector<Measured> known;
    int64_t place = 0;
    for (KnownProgram& program : history.programs) {
      if (program.own && ++place > whole) {
        if (!program.retry) cut_round.push_back(std::move(program.measured));
      } else if (!program.retry) {
        known.push_back(program.measured);
        leaders.add(program.measured);
        if (program.own) count(program.measured, true);
      } else if (program.own) {
        retried.push_back(program.measured.candidate);
        ++result.trials;
        ++result.resumed;
      }
    }
    stage = 0;
    stage_begin = 0;
    searcher = nullptr;
    exhausted = false;
    if (!known.empty()) context.learn(known);
  }

  /// Of similar tasks, by what was on record when this run, or the one that it takes up, measured its first
  /// program: so both are given the same.
  Seeds seeds_on_record() {
    if (began_ms == 0) began_ms = now_ms();
    SeedQuery query;
    query.task = key;
    query.machine = machine;
    query.until_ms = began_ms;
    return find_seeds(workload, context.sketches(), store, query);
  }

  void add_plain_forms() {
    std::vector<SearchContext::Draft> drafts;
    for (Trace& form : plain_forms(workload.program)) drafts.push_back({std::move(form), RandomStream(0)});
    std::vector<CandidatePtr> forms = context.materialise(drafts);
    if (forms.front()) unscheduled = forms.front()->lowered_hash;
    for (const Measured& known : context.history()) note_baseline(known);
    for (CandidatePtr& form : forms) {
      if (!form) continue;  // refused, and counted as that
      const bool again = std::ranges::any_of(
          plain, [&](const CandidatePtr& other) { return other->lowered_hash == form->lowered_hash; });
      if (!again && !context.is_measured(form->lowered_hash)) plain.push_back(std::move(form));
    }
  }

  // ---- Going on ----

  bool stopped() const { return hooks.stop != nullptr && hooks.stop->load(); }
  bool late() const { return options.time_limit_seconds > 0 && seconds() > options.time_limit_seconds; }
  bool done() const {
    const bool enough = result.trials >= options.trials && retried.empty();
    return enough || exhausted || stopped() || late();
  }
  double seconds() const { return result.times.wall + (wall != nullptr ? wall->seconds() : 0.0); }

  int64_t step(int64_t n) {
    if (done() || n < 1) return 0;
    if (began_ms == 0) began_ms = now_ms();
    const Stopwatch watch(result.times.wall);
    const WaitingWatch waiting(result.times.wait, options.machine.get());
    wall = &watch;
    const int64_t before = result.trials;
    if (!retried.empty()) {
      retrying = true;
      const std::vector<Measured> results = evaluate(std::exchange(retried, {}), {});
      retrying = false;
      if (!results.empty()) context.learn(results);
    }
    const int64_t end = std::min(before + n, before - before % options.batch + options.batch);
    if (!plain.empty()) round(std::exchange(plain, {}), end);
    while (room(end) > 0 && enter_stage()) {
      std::vector<CandidatePtr> proposed = propose(std::min(room(end), stage_end() - result.trials));
      if (!proposed.empty()) {
        const Expectations own(*searcher, proposed);
        const int64_t begun = result.trials;
        const std::vector<Measured> results = round(std::move(proposed), end);
        if (const std::optional<ModelBatch> batch = own.judge(results, begun))
          result.own_batches.push_back(*batch);
        searcher->observe(context, results);
        break;
      }
      leave_stage(result.trials);
    }
    take_rest_of_cut_round();
    wall = nullptr;
    return result.trials - before;
  }

  /// Trials that may still be made before `end`, which the run's own end may precede.
  int64_t room(int64_t end) const { return stopped() ? 0 : std::min(end, options.trials) - result.trials; }

  int64_t stage_end() const {
    const int64_t trials = space.spec().search[stage].trials;
    return trials > 0 ? std::min(options.trials, stage_begin + trials) : options.trials;
  }

  /// Makes the searcher whose turn it is. False when there is none.
  bool enter_stage() {
    while (stage < space.spec().search.size() && result.trials >= stage_end()) leave_stage(stage_end());
    if (stage == space.spec().search.size()) {
      exhausted = true;
      return false;
    }
    if (searcher) return true;
    searcher = space.create_searcher(stage);
    if (!context.history().empty()) searcher->observe(context, context.history());
    return true;
  }
  void leave_stage(int64_t trials) {
    stage_begin = trials;
    ++stage;
    searcher = nullptr;
  }

  std::vector<CandidatePtr> propose(int64_t wanted) {
    const MachineLock::Turn turn = evaluator.compute_turn();
    context.begin_round(result.trials);
    const double model_before = context.model_seconds();
    double spent = 0.0;
    std::vector<CandidatePtr> proposed;
    {
      const Stopwatch watch(spent);
      proposed = searcher->propose(context, static_cast<size_t>(wanted));
    }
    result.times.propose += spent - (context.model_seconds() - model_before);
    return proposed;
  }

  /// Measures candidates and learns from them.
  std::vector<Measured> round(std::vector<CandidatePtr> proposed, int64_t end) {
    proposed.resize(std::min(proposed.size(), static_cast<size_t>(std::max<int64_t>(room(end), 0))));
    const RoundRecord record = begin_round(proposed);
    const std::vector<Measured> results = evaluate(proposed, record);
    if (results.empty()) return results;
    const MachineLock::Turn turn = evaluator.compute_turn();
    judge(results, record);
    context.learn(results);
    return results;
  }

  /// What the records are to say of the round: its number, and the cost model's scores before it learns.
  RoundRecord begin_round(const std::vector<CandidatePtr>& proposed) {
    RoundRecord record{++rounds, {}};
    const MachineLock::Turn turn = evaluator.compute_turn();
    const std::optional<std::vector<double>> scores = context.foresee(proposed);
    if (!scores) return record;
    for (size_t i = 0; i < proposed.size(); ++i) record.scores[proposed[i]->lowered_hash] = (*scores)[i];
    return record;
  }

  void judge(const std::vector<Measured>& results, const RoundRecord& record) {
    if (record.scores.empty()) return;
    std::vector<double> scores;
    for (const Measured& one : results) scores.push_back(record.scores.at(one.candidate->lowered_hash));
    if (const std::optional<ModelBatch> batch = context.judge(results, scores))
      result.model_batches.push_back(*batch);
  }

  /// What is on record is taken from there, and the rest is measured.
  std::vector<Measured> evaluate(const std::vector<CandidatePtr>& proposed, const RoundRecord& record) {
    std::vector<CandidatePtr> fresh;
    std::unordered_map<uint64_t, Measured> known;
    for (const CandidatePtr& candidate : proposed) {
      if (std::optional<Measured> recorded = take_from_records(candidate->lowered_hash)) {
        recorded->candidate = candidate;  // with its program, which the history has not kept
        known.emplace(candidate->lowered_hash, std::move(*recorded));
        ++result.resumed;
      } else {
        fresh.push_back(candidate);
      }
    }
    if (!retrying) {
      // What is left of a cut round was measured already, and counts.
      const int64_t left = options.trials - result.trials - static_cast<int64_t>(cut_round.size());
      fresh.resize(std::min(fresh.size(), static_cast<size_t>(std::max<int64_t>(left, 0))));
    }
    const std::vector<Built> built = evaluator.build(fresh);
    int64_t index = result.trials;
    for (size_t begin = 0; begin < built.size() && !stopped(); begin += kGroup) {
      const std::span<const Built> group =
          std::span(built).subspan(begin, std::min(kGroup, built.size() - begin));
      const double limit = leaders.seconds() > 0.0 ? leaders.seconds() : kFirstLimit;
      for (Measured& one : evaluator.measure(group, limit, index, record)) {
        ++index;
        leaders.add(one);
        note_baseline(one);
        count(one, false);
        known.emplace(one.candidate->lowered_hash, std::move(one));
      }
    }
    std::vector<Measured> results;
    for (const CandidatePtr& candidate : proposed) {
      if (const auto found = known.find(candidate->lowered_hash); found != known.end())
        results.push_back(found->second);
    }
    return results;
  }

  /// Of a round that was cut, or, if a searcher proposes what it must not, of anything measured before.
  std::optional<Measured> take_from_records(uint64_t lowered_hash) {
    const auto same = [&](const Measured& one) { return one.candidate->lowered_hash == lowered_hash; };
    if (const auto found = std::ranges::find_if(cut_round, same); found != cut_round.end()) {
      Measured recorded = std::move(*found);
      cut_round.erase(found);
      count(recorded, false);
      leaders.add(recorded);
      note_baseline(recorded);
      return recorded;
    }
    if (!context.is_measured(lowered_hash)) return std::nullopt;
    const auto found = std::ranges::find_if(context.history(), same);
    if (found == context.history().end()) return std::nullopt;  // of another run, and not among its best
    count(*found, false);
    return *found;
  }

  /// The searcher took another way than before: what it found then is known to it all the same.
  void take_rest_of_cut_round() {
    if (cut_round.empty()) return;
    const std::vector<Measured> rest = std::exchange(cut_round, {});
    for (const Measured& one : rest) {
      count(one, true);
      leaders.add(one);
      note_baseline(one);
    }
    context.learn(rest);
    if (searcher) searcher->observe(context, rest);
  }

  /// Counts a trial. `recorded`: by an earlier process.
  void count(const Measured& one, bool recorded) {
    if (!retrying) ++result.trials;
    if (recorded) ++result.resumed;
    if (one.timing) ++result.valid;
    note_improvement(one, result.trials);
    if (one.failure) {
      ++result.failures[one.failure->cause];
      result.first_failures.try_emplace(one.failure->cause, one.failure->message);
    }
    if (!hooks.progress || wall == nullptr) return;
    TuneProgress progress{result.trials, options.trials, {}, result.failures, seconds()};
    if (leaders.seconds() > 0.0) progress.best_seconds = leaders.seconds();
    hooks.progress(progress);
  }

  void note_improvement(const Measured& one, int64_t trials) {
    if (one.timing && (improvements.empty() || one.timing->min < improvements.back().seconds))
      improvements.push_back({trials, one.timing->min});
  }

  void note_baseline(const Measured& one) {
    if (one.candidate->lowered_hash == unscheduled && one.timing) result.baseline_seconds = one.timing->min;
  }

  // ---- Ending ----

  TuneResult finish(std::string_view because, bool rank) {
    {
      const Stopwatch watch(result.times.wall);
      const WaitingWatch waiting(result.times.wait, options.machine.get());
      if (rank && !leaders.all().empty() && !stopped()) rank_leaders();
      store.end_run(run.id, now_ms(), because.empty() ? why_ended() : because);
      if (!options.model_file.empty() && options.save_model) context.save_model(options.model_file);
    }
    return so_far();
  }

  TuneResult so_far() {
    take_best_on_record();
    result.interrupted = stopped();
    result.exhausted = exhausted && !result.interrupted && result.trials < options.trials;
    result.seeded = context.seeded();
    result.model_dropped = context.model_dropped();
    result.median_compile_seconds = evaluator.median_compile_seconds();
    result.refusals = context.refusals();
    result.first_refusals = context.first_refusals();
    result.times.model = context.model_seconds();
    result.times.build = evaluator.build_seconds();
    result.times.measure = evaluator.measure_seconds();
    result.disturbed = evaluator.disturbed();
    return result;
  }

  std::string_view why_ended() const {
    if (stopped()) return "interrupted";
    if (late()) return "time limit";
    return result.trials >= options.trials ? "trials" : "nothing left to propose";
  }

  void rank_leaders() {
    std::vector<CandidatePtr> candidates;
    for (const Measured& leader : leaders.all()) candidates.push_back(leader.candidate);
    const std::vector<Built> built = evaluator.build(candidates);
    std::vector<const CompiledKernel*> kernels;
    std::vector<double> expected_seconds;
    std::vector<const Measured*> timed;
    for (size_t i = 0; i < built.size(); ++i) {
      if (!built[i].kernel) continue;
      kernels.push_back(&*built[i].kernel);
      expected_seconds.push_back(leaders.all()[i].timing->min);
      timed.push_back(&leaders.all()[i]);
    }
    const DType type = workload.program.outputs.front()->dtype;
    const PeakKernel peak = space.target().peak_kernel(type, options.measure_threads);
    const MeasuringWatch watch = evaluator.measuring();
    const Ranking ranking = rank(runner, kernels, expected_seconds, peak, {.rounds = options.final_rounds});
    result.peak_operations_per_second = ranking.peak_operations_per_second;
    if (ranking.peak_operations_per_second > 0.0) {
      store.add_roof({make_id(), run.environment, key.target, key.threads, key.device, operations_roof(type),
                      ranking.peak_operations_per_second, now_ms()});
    }
    std::vector<Evaluator::Ranked> ranked;
    for (size_t i = 0; i < timed.size(); ++i) {
      const RankedKernel& kernel = ranking.kernels[i];
      if (!kernel.time) continue;
      ranked.push_back({timed[i]->candidate, kernel.samples, kernel.time->value, timed[i]->timing->prepare,
                        kernel.disturbed});
      times.emplace(timed[i]->candidate->lowered_hash, *kernel.time);
    }
    evaluator.record_ranking(ranked);
  }

  void take_best_on_record() {
    const std::vector<Record> best = store.best({key, machine, {}}, 1);
    if (best.empty()) return;
    const Record& record = best.front();
    result.best_id = record.id;
    result.best_space = record.space;
    result.best_trace = names.own(Trace::parse(record.trace, "record " + record.id)).value_or(Trace());
    result.best_seconds = record.seconds;
    result.best_prepare_seconds = record.timing->prepare;
    if (const auto found = times.find(*record.lowered_hash); found != times.end())
      result.best_time = found->second;
  }

  const Workload& workload;
  const Space& space;
  RecordStore& store;
  Runner& runner;
  const uint64_t machine;
  const TuneOptions options;
  const TuneHooks hooks;
  const TaskKey key;
  const RecordedRun run;
  const RecordedNames names;
  Task context;
  Evaluator evaluator;
  Leaders leaders;

  int64_t began_ms = 0;               // measuring, as Record::time_ms; 0: it has not
  std::vector<CandidatePtr> plain;    // forms that need no search, not measured yet
  uint64_t unscheduled = 0;           // lowered hash; 0 when it cannot be lowered
  std::vector<CandidatePtr> retried;  // failed in an earlier process for a reason that may have passed
  bool retrying = false;              // those were counted then
  std::vector<Measured> cut_round;    // of the round that an earlier process did not end
  size_t stage = 0;
  int64_t stage_begin = 0;
  int rounds = 0;                      // begun by this process
  std::shared_ptr<Searcher> searcher;  // of the stage; null before it is entered
  bool exhausted = false;
  std::unordered_map<uint64_t, QuantileInterval> times;  // of the ranking, by lowered hash
  const Stopwatch* wall = nullptr;                       // of the step under way
  std::vector<Improvement> improvements;
  TuneResult result;
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
int64_t TuningTask::trials() const { return state_->result.trials; }
const std::vector<Improvement>& TuningTask::improvements() const { return state_->improvements; }
TuneResult TuningTask::so_far() {
  return state_->or_end_run([&] { return state_->so_far(); });
}
const std::string& TuningTask::run() const { return state_->run.id; }
TuneResult TuningTask::finish(std::string_view because, bool rank) {
  return state_->or_end_run([&] { return state_->finish(because, rank); });
}

}  // namespace tunesmith
