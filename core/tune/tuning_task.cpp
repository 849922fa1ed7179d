#include <algorithm>
#include <optional>
#include <type_traits>
#include <unordered_map>
#include <unordered_set>
#include <utility>

#include <fmt/format.h>

#include "tune/evaluator.h"
#include "tune/expectations.h"
#include "tune/history.h"
#include "tune/plain_forms.h"
#include "tune/rank_leaders.h"
#include "tune/run_record.h"
#include "tune/search_stages.h"
#include "tune/stopwatch.h"
#include "tune/take_up.h"
#include "tune/task.h"
#include "tune/trial_log.h"
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
        names(tuned, records, in.intrinsics()),
        context(tuned, in, wanted.seed, wanted.threads),
        evaluator(tuned, in, records, measuring, names, common_record(key, run, names.workload()), options,
                  hooks, context.pool()),
        log(result, wanted.final_candidates),
        stages(in, wanted.trials) {
    result.times.generate = result.times.wall = context.generate_seconds();
    const Stopwatch watch(result.times.wall);
    store.add_environment(environment);
    store.add_space({run.space, run.rules_hash, space.rules()});
    store.add_run(run);
    context.refuse_by(hooks.refuse);
    or_end_run([&] {
      if (!options.model_file.empty()) context.load_model(options.model_file);
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
    History history(workload, space, store, filter, run, names);
    TakenUp before = take_up(history, context, log, space, options);
    result.known = before.known;
    result.lost = before.lost;
    retried = std::move(before.retried);
    cut_round = std::move(before.cut_round);
    unchecked = std::move(before.unchecked);
  }

  /// Similar tasks are asked before the first round and, where they are tuned in turn with this one, again
  /// whenever there are twice as many trials. What counts is what was on record when that round's first
  /// program was measured, so a run that is taken up is given the same.
  void ask_for_seeds() {
    int64_t before = 0;
    for (int64_t trials = options.batch; options.in_turn && trials <= result.trials; trials *= 2)
      before = trials;
    if (!options.resume || seeded_before == before) return;
    seeded_before = before;
    context.seed_by([this, before] {
      SeedQuery query;
      query.task = key;
      query.machine = machine;
      const auto place = static_cast<size_t>(before);
      query.until_ms = place < log.trial_ms().size() ? log.trial_ms()[place] : now_ms();
      return find_seeds(workload, context.sketches(), store, query);
    });
  }

  void add_plain_forms() {
    std::vector<SearchContext::Draft> drafts;
    for (Trace& form : plain_forms(workload.program)) drafts.push_back({std::move(form), RandomStream(0)});
    std::vector<CandidatePtr> forms = context.materialise(drafts);
    if (forms.front()) {
      log.set_unscheduled(forms.front()->lowered_hash);
      if (const std::optional<size_t> place = place_in_history(forms.front()->lowered_hash))
        log.note_baseline(context.history()[*place]);
    }
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
    const Stopwatch watch(result.times.wall);
    const WaitingWatch waiting(result.times.wait, options.machine.get());
    wall = &watch;
    const int64_t before = result.trials;
    if (!retried.empty()) {
      const std::vector<Measured> results = evaluate(std::exchange(retried, {}), {}, TrialLog::Kind::Again);
      if (!results.empty()) context.learn(results);
    }
    const int64_t end = std::min(before + n, before - before % options.batch + options.batch);
    if (!plain.empty()) round(std::exchange(plain, {}), end);
    while (room(end) > 0 && !late()) {
      Searcher* const searcher = stages.enter(result.trials, context);
      exhausted = searcher == nullptr;
      if (exhausted) break;
      std::vector<CandidatePtr> proposed =
          propose(*searcher, std::min(room(end), stages.end() - result.trials));
      if (proposed.empty()) {
        stages.leave(result.trials);
        continue;
      }
      const Expectations own(*searcher, proposed);
      const int64_t begun = result.trials;
      const size_t cut = cut_round.size();
      const std::vector<Measured> results = round(std::move(proposed), end);
      if (const std::optional<ModelBatch> batch = own.judge(results, begun))
        result.own_batches.push_back(*batch);
      searcher->observe(context, results);
      if (results.size() > cut - cut_round.size()) take_rest_of_cut_round();
      if (result.trials == begun) break;
    }
    if (exhausted) take_rest_of_cut_round();
    wall = nullptr;
    return result.trials - before;
  }

  /// Trials that may still be made before `end`, which the run's own end may precede.
  int64_t room(int64_t end) const { return stopped() ? 0 : std::min(end, options.trials) - result.trials; }

  std::vector<CandidatePtr> propose(Searcher& searcher, int64_t wanted) {
    const MachineLock::Turn turn = evaluator.compute_turn();
    context.begin_round(result.trials);
    ask_for_seeds();
    const double model_before = context.model_seconds();
    double spent = 0.0;
    std::vector<CandidatePtr> proposed;
    {
      const Stopwatch watch(spent);
      proposed = searcher.propose(context, static_cast<size_t>(wanted));
    }
    result.times.propose += spent - (context.model_seconds() - model_before);
    return proposed;
  }

  /// Measures candidates and learns from them.
  std::vector<Measured> round(std::vector<CandidatePtr> proposed, int64_t end) {
    proposed.resize(std::min(proposed.size(), static_cast<size_t>(std::max<int64_t>(room(end), 0))));
    const RoundRecord record = begin_round(proposed);
    const std::vector<Measured> results = evaluate(proposed, record, TrialLog::Kind::New);
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
  std::vector<Measured> evaluate(const std::vector<CandidatePtr>& proposed, const RoundRecord& record,
                                 TrialLog::Kind kind) {
    std::vector<CandidatePtr> fresh;
    std::unordered_map<uint64_t, Measured> known;
    for (const CandidatePtr& candidate : proposed) {
      if (std::optional<Measured> recorded = take_from_records(candidate->lowered_hash)) {
        recorded->candidate = candidate;  // with its program, which the history has not kept
        known.emplace(candidate->lowered_hash, std::move(*recorded));
      } else {
        fresh.push_back(candidate);
      }
    }
    if (kind == TrialLog::Kind::New) {
      // What is left of a cut round was measured already, and counts.
      const int64_t left = options.trials - result.trials - static_cast<int64_t>(cut_round.size());
      fresh.resize(std::min(fresh.size(), static_cast<size_t>(std::max<int64_t>(left, 0))));
    }
    const std::vector<Built> built = evaluator.build(fresh);
    int64_t index = result.trials;
    for (size_t begin = 0; begin < built.size() && !stopped(); begin += kGroup) {
      const std::span<const Built> group =
          std::span(built).subspan(begin, std::min(kGroup, built.size() - begin));
      const double limit = log.leaders().seconds() > 0.0 ? log.leaders().seconds() : kFirstLimit;
      for (Measured& one : evaluator.measure(group, limit, index, record)) {
        ++index;
        log.add(one, kind);
        report_progress();
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
      log.add(recorded, TrialLog::Kind::Recorded);
      report_progress();
      return recorded;
    }
    if (!context.is_measured(lowered_hash)) return std::nullopt;
    const std::optional<size_t> place = place_in_history(lowered_hash);
    if (!place) return std::nullopt;  // of another run, and not among its best
    Measured known = context.history()[*place];
    log.repeat(known);
    report_progress();
    return known;
  }

  std::optional<size_t> place_in_history(uint64_t lowered_hash) const {
    const MeasuredHistory& history = context.history();
    for (size_t i = 0; i < history.size(); ++i) {
      if (history.lowered_hash(i) == lowered_hash) return i;
    }
    return std::nullopt;
  }

  /// The searcher took another way than before: what it found then is known to it all the same.
  void take_rest_of_cut_round() {
    if (cut_round.empty()) return;
    const std::vector<Measured> rest = std::exchange(cut_round, {});
    for (const Measured& one : rest) {
      log.add(one, TrialLog::Kind::Recorded);
      report_progress();
    }
    context.learn(rest);
    if (Searcher* const searcher = stages.current()) searcher->observe(context, rest);
  }

  void report_progress() const {
    if (!hooks.progress || wall == nullptr) return;
    TuneProgress progress{result.trials, options.trials, {}, result.failures, seconds()};
    if (log.leaders().seconds() > 0.0) progress.best_seconds = log.leaders().seconds();
    hooks.progress(progress);
  }

  // ---- Ending ----

  TuneResult finish(std::string_view because, bool ranked) {
    {
      const Stopwatch watch(result.times.wall);
      const WaitingWatch waiting(result.times.wait, options.machine.get());
      if (ranked && !log.leaders().all().empty() && !stopped()) rank();
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
    result.twins = evaluator.twins();
    return result;
  }

  std::string_view why_ended() const {
    if (stopped()) return "interrupted";
    if (late()) return "time limit";
    return result.trials >= options.trials ? "trials" : "nothing left to propose";
  }

  /// The fastest without those that only an earlier check accepted, and this one refuses.
  Leaders checked_leaders() {
    std::vector<CandidatePtr> old;
    for (const Measured& one : log.leaders().all()) {
      if (unchecked.contains(one.candidate->lowered_hash)) old.push_back(one.candidate);
    }
    Leaders leaders = log.leaders();
    if (old.empty()) return leaders;
    for (const Measured& one : evaluator.check_again(old)) {
      ++result.checked_again;
      if (!one.failure) continue;
      leaders.remove(*one.candidate);
      // What a stop or the machine ended was not refused; it is not ranked this time.
      if (!is_transient(one.failure->cause, true)) ++result.refused_again;
    }
    return leaders;
  }

  void rank() {
    const DType type = workload.program.outputs.front()->dtype;
    const PeakKernel peak = space.peak_kernel(workload.program, options.measure_threads);
    LeadersRanking ranking = rank_leaders(checked_leaders(), evaluator, runner, peak, options.final_rounds);
    times = std::move(ranking.times);
    result.peak_operations_per_second = ranking.peak_operations_per_second;
    // A unit's is no roof for what else has this type.
    if (ranking.peak_operations_per_second > 0.0 && peak.unit.empty()) {
      store.add_roof({make_id(), run.environment, key.target, key.threads, key.device, operations_roof(type),
                      ranking.peak_operations_per_second, now_ms()});
    }
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
  TuneResult result;
  TrialLog log;

  int64_t seeded_before = -1;              // the trial before which similar tasks were asked last
  std::vector<CandidatePtr> plain;         // forms that need no search, not measured yet
  std::vector<CandidatePtr> retried;       // failed in an earlier process for a reason that may have passed
  std::vector<Measured> cut_round;         // of the round that an earlier process did not end
  std::unordered_set<uint64_t> unchecked;  // programs on record that only an earlier check accepted
  SearchStages stages;
  int rounds = 0;  // begun by this process
  bool exhausted = false;
  std::unordered_map<uint64_t, QuantileInterval> times;  // of the ranking, by lowered hash
  const Stopwatch* wall = nullptr;                       // of the step under way
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
const std::vector<Improvement>& TuningTask::improvements() const { return state_->log.improvements(); }
TuneResult TuningTask::so_far() {
  return state_->or_end_run([&] { return state_->so_far(); });
}
const std::string& TuningTask::run() const { return state_->run.id; }
TuneResult TuningTask::finish(std::string_view because, bool rank) {
  return state_->or_end_run([&] { return state_->finish(because, rank); });
}

}  // namespace tunesmith
