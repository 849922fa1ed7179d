#include "tunesmith/tune/tuner.h"

#include <algorithm>
#include <unordered_map>

#include <fmt/format.h>

#include "plugin/guard.h"
#include "tune/rank.h"
#include "tune/stopwatch.h"
#include "tune/task.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {
namespace {

/// Candidates handed to the runner at once: few, so that a stop is heeded soon and records are written as
/// they come.
constexpr size_t kGroup = 8;
constexpr const char* kSymbol = "tunesmith_candidate";

/// A run in progress.
class Run {
 public:
  Run(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
      const Environment& environment, const TuneOptions& options, const TuneHooks& hooks)
      : workload_(workload),
        space_(space),
        store_(store),
        runner_(runner),
        environment_(environment.hash()),
        options_(options),
        hooks_(hooks),
        task_(workload, space, options.seed, options.threads) {
    begin_run(environment);
    if (options.resume) load_records();
  }

  TuneResult run() {
    {
      const Stopwatch wall(result_.times.wall);
      wall_ = &wall;
      // First, so that no candidate is waited for that is slower by far.
      if (!stopped()) measure_baseline();
      for (size_t stage = 0; stage < space_.spec().search.size() && !done(); ++stage) run_stage(stage);
      finish();
      end_run();
      wall_ = nullptr;
    }
    result_.refusals = task_.refusals();
    result_.times.model = task_.model_seconds();
    return std::move(result_);
  }

 private:
  bool stopped() const { return hooks_.stop != nullptr && hooks_.stop->load(); }
  bool done() {
    if (stopped()) result_.interrupted = true;
    const bool late = options_.time_limit_seconds > 0 && wall_->seconds() > options_.time_limit_seconds;
    return result_.interrupted || late || result_.trials >= options_.trials;
  }

  /// For what would disturb another run's measuring.
  MachineLock::Turn compute_turn() const {
    return options_.machine ? options_.machine->wait(MachineLock::Use::Compute, hooks_.stop)
                            : MachineLock::Turn();
  }

  void begin_run(const Environment& environment) {
    store_.add_environment(environment);
    store_.add_workload({workload_.hash, workload_.key, workload_.definition});
    store_.add_space({space_.spec().name, space_.rules_hash(), ""});
    run_.id = make_id();
    run_.seed = options_.seed;
    run_.space = space_.spec().name;
    run_.rules_hash = space_.rules_hash();
    run_.environment = environment_;
    for (const SpaceSpec::Stage& stage : space_.spec().search)
      run_.searcher += (run_.searcher.empty() ? "" : ", ") + stage.searcher.id;
    run_.cost_model = space_.spec().cost_model.id;
    run_.threads = options_.measure_threads;
    run_.options = fmt::format("trials={} batch={}", options_.trials, options_.batch);
    run_.began_ms = now_ms();
    store_.add_run(run_);
  }

  void end_run() {
    const char* why = result_.interrupted                 ? "interrupted"
                      : result_.trials >= options_.trials ? "all trials done"
                                                          : "the time is over, or nothing new was proposed";
    store_.end_run(run_.id, now_ms(), why);
  }

  TaskKey task_key() const {
    return {workload_.hash, task_target(space_.target()), options_.measure_threads, ""};
  }

  /// Measured before with the same program, rules and environment: taken up instead of measuring again,
  /// unless it failed and may do better now. The search itself is run anew, and proposes the same candidates,
  /// so a resumed run goes on exactly where it was.
  void load_records() {
    RecordFilter filter;
    filter.task = task_key();
    filter.environment = environment_;
    filter.rules_hash = space_.rules_hash();
    filter.kind = MeasurementKind::Search;
    filter.attributed = true;
    for (Record& record : store_.list(filter)) {
      if (record.transient()) continue;
      const uint64_t hash = *record.lowered_hash;
      earlier_.try_emplace(hash, std::move(record));
    }
  }

  void run_stage(size_t stage) {
    const std::shared_ptr<Searcher> searcher = space_.create_searcher(stage);
    const int64_t stage_trials = space_.spec().search[stage].trials;
    const int64_t end =
        stage_trials > 0 ? std::min(options_.trials, result_.trials + stage_trials) : options_.trials;
    const std::string& searcher_id = space_.spec().search[stage].searcher.id;
    if (!task_.history().empty())
      guard_plugin(PluginKind::Searcher, searcher_id, "observe",
                   [&] { searcher->observe(task_, task_.history()); });
    while (!done() && result_.trials < end) {
      const auto wanted = static_cast<size_t>(std::min(options_.batch, end - result_.trials));
      std::vector<CandidatePtr> proposed;
      {
        const MachineLock::Turn turn = compute_turn();
        const double model_before = task_.model_seconds();
        double seconds = 0.0;
        {
          const Stopwatch watch(seconds);
          proposed = guard_plugin(PluginKind::Searcher, searcher_id, "propose",
                                  [&] { return searcher->propose(task_, wanted); });
        }
        result_.times.propose += seconds - (task_.model_seconds() - model_before);
      }
      if (std::find(proposed.begin(), proposed.end(), nullptr) != proposed.end())
        throw PluginError(PluginKind::Searcher, searcher_id, "proposed a candidate that is none");
      if (proposed.empty()) return;
      const std::vector<Measured> results = evaluate(proposed);
      task_.learn(results);
      guard_plugin(PluginKind::Searcher, searcher_id, "observe", [&] { searcher->observe(task_, results); });
    }
  }

  std::vector<Measured> evaluate(const std::vector<CandidatePtr>& proposed) {
    std::vector<Measured> results;
    std::vector<CandidatePtr> fresh;
    for (const CandidatePtr& candidate : proposed) {
      if (earlier_.count(candidate->lowered_hash) == 0) fresh.push_back(candidate);
    }
    const std::vector<tl::expected<CompiledKernel, std::string>> built = build(fresh);
    std::unordered_map<const Candidate*, Measured> measured;
    for (size_t begin = 0; begin < fresh.size() && !stopped(); begin += kGroup) {
      const size_t end = std::min(begin + kGroup, fresh.size());
      for (Measured& one : measure(fresh, built, begin, end))
        measured.emplace(one.candidate.get(), std::move(one));
    }
    for (const CandidatePtr& candidate : proposed) {
      if (const auto old = earlier_.find(candidate->lowered_hash); old != earlier_.end()) {
        results.push_back({candidate, old->second.timing, old->second.failure});
        ++result_.resumed;
        note(results.back(), old->second.id);
      } else if (const auto now = measured.find(candidate.get()); now != measured.end()) {
        results.push_back(now->second);
      }
    }
    return results;
  }

  tl::expected<CompiledKernel, std::string> compile(const LoweredProgram& lowered) const {
    using Result = tl::expected<CompiledKernel, std::string>;
    return guard_plugin(PluginKind::Target, space_.spec().target.id, "compile", [&]() -> Result {
      try {
        return space_.target().compile(lowered, kSymbol);
      } catch (const LowerError& refusal) {
        return tl::make_unexpected(std::string(refusal.what()));
      }
    });
  }

  std::vector<tl::expected<CompiledKernel, std::string>> build(const std::vector<CandidatePtr>& candidates) {
    const MachineLock::Turn turn = compute_turn();
    const Stopwatch watch(result_.times.build);
    std::vector<tl::expected<CompiledKernel, std::string>> built(candidates.size());
    task_.pool().parallel_for(candidates.size(), [&](size_t i) {
      built[i] = stopped() ? tl::make_unexpected(std::string("stopped by the user"))
                           : compile(candidates[i]->lowered);
    });
    for (const auto& kernel : built) {
      if (kernel) compile_seconds_.push_back(kernel->compile_seconds);
    }
    return built;
  }

  std::vector<Measured> measure(const std::vector<CandidatePtr>& candidates,
                                const std::vector<tl::expected<CompiledKernel, std::string>>& built,
                                size_t begin, size_t end) {
    std::vector<MeasureRequest> requests;
    for (size_t i = begin; i < end; ++i) {
      if (built[i]) requests.push_back({&*built[i], best_seconds()});
    }
    std::vector<MeasureResult> answers;
    {
      const Stopwatch watch(result_.times.measure);
      answers = runner_.run(requests);
    }
    std::vector<Measured> results;
    std::vector<Record> records;
    size_t next = 0;
    for (size_t i = begin; i < end; ++i) {
      MeasureResult answer;
      if (built[i]) {
        answer = std::move(answers[next++]);
      } else {
        answer.failure = CandidateFailure{FailureCause::CompileError, built[i].error()};
      }
      Record record = make_record(*candidates[i], answer, records.size());
      if (hooks_.stop != nullptr && stopped() && answer.failure)
        continue;  // the interruption may be its cause
      records.push_back(std::move(record));
      if (answer.timing && answer.disturbed.value_or(false)) ++result_.disturbed;
      results.push_back({candidates[i], answer.timing, answer.failure});
    }
    // One sync to disk for the group; nothing is reported before it.
    store_.add(records);
    for (size_t i = 0; i < records.size(); ++i) {
      if (hooks_.recorded) hooks_.recorded(records[i]);
      note(results[i], records[i].id);
    }
    return results;
  }

  /// `ahead`: records of the same group before this one, which are not counted yet.
  Record make_record(const Candidate& candidate, const MeasureResult& answer, size_t ahead) const {
    Record record;
    record.id = make_id();
    record.workload = workload_.key;
    record.workload_hash = workload_.hash;
    record.target = task_target(space_.target());
    record.threads = run_.threads;
    record.run = run_.id;
    record.environment = environment_;
    record.space = run_.space;
    record.rules_hash = run_.rules_hash;
    record.seed = run_.seed;
    record.trace = candidate.trace.str();
    record.trace_version = kTraceVersion;
    record.lowered_hash = candidate.lowered_hash;
    record.candidate = static_cast<uint64_t>(result_.trials) + ahead;
    record.timing = answer.timing;
    if (answer.timing) {
      record.seconds = answer.timing->min;
      record.verified_error = answer.verified_error;
    }
    record.failure = answer.failure;
    record.time_ms = now_ms();
    return record;
  }

  /// The fastest so far; the unscheduled program before any is known.
  double best_seconds() const { return best_.empty() ? result_.baseline_seconds : best_.front().seconds; }

  /// Counts a result and keeps the best few.
  void note(const Measured& result, const std::string& id) {
    ++result_.trials;
    if (result.timing) {
      ++result_.valid;
      const Best entry{result.timing->min, result.timing->prepare, result.candidate, id};
      const auto place = std::upper_bound(best_.begin(), best_.end(), entry,
                                          [](const Best& a, const Best& b) { return a.seconds < b.seconds; });
      best_.insert(place, entry);
      if (best_.size() > static_cast<size_t>(std::max(options_.final_candidates, 1))) best_.pop_back();
    } else if (result.failure) {
      ++result_.failures[result.failure->cause];
    }
    if (!hooks_.progress) return;
    TuneProgress progress{result_.trials, options_.trials, {}, result_.failures, wall_->seconds()};
    if (!best_.empty()) progress.best_seconds = best_.front().seconds;
    hooks_.progress(progress);
  }

  /// Ranks the best few again.
  void finish() {
    if (!compile_seconds_.empty()) {
      const auto middle = compile_seconds_.begin() + static_cast<std::ptrdiff_t>(compile_seconds_.size() / 2);
      std::nth_element(compile_seconds_.begin(), middle, compile_seconds_.end());
      result_.median_compile_seconds = *middle;
    }
    if (best_.empty()) return;
    result_.best_id = best_.front().id;
    result_.best_trace = best_.front().candidate->trace;
    result_.best_prepare_seconds = best_.front().prepare_seconds;
    result_.best_seconds = best_.front().seconds;
    if (stopped()) return;  // a person waits
    rank_best();
  }

  void rank_best() {
    std::vector<CandidatePtr> candidates;
    for (const Best& best : best_) candidates.push_back(best.candidate);
    const auto built = build(candidates);
    std::vector<const CompiledKernel*> kernels;
    std::vector<size_t> origin;
    for (size_t i = 0; i < built.size(); ++i) {
      if (!built[i]) continue;
      kernels.push_back(&*built[i]);
      origin.push_back(i);
    }
    const DType type = workload_.program.outputs.front()->dtype;
    const PeakKernel peak = space_.target().peak_kernel(type, options_.measure_threads);
    const Stopwatch watch(result_.times.measure);
    const Ranking ranking = rank(runner_, kernels, peak, {.rounds = options_.final_rounds});
    result_.peak_operations_per_second = ranking.peak_operations_per_second;
    if (!ranking.best) return;
    const Best& best = best_[origin[*ranking.best]];
    result_.best_time = ranking.kernels[*ranking.best].time;
    result_.best_seconds = result_.best_time->value;
    result_.best_id = best.id;
    result_.best_trace = best.candidate->trace;
    result_.best_prepare_seconds = best.prepare_seconds;
  }

  void measure_baseline() {
    const auto built = compile(lower_for(space_.target(), workload_.program));
    if (!built) return;
    const Stopwatch watch(result_.times.measure);
    const CompiledKernel* kernel = &*built;
    const std::vector<InterleavedTimes> times = runner_.interleave({&kernel, 1}, {.rounds = 1});
    if (!times.front().failure) result_.baseline_seconds = times.front().samples.front();
  }

  struct Best {
    double seconds = 0.0;
    double prepare_seconds = 0.0;
    CandidatePtr candidate;
    std::string id;
  };

  const Workload& workload_;
  const Space& space_;
  RecordStore& store_;
  Runner& runner_;
  const uint64_t environment_;
  const TuneOptions& options_;
  const TuneHooks& hooks_;
  RecordedRun run_;
  Task task_;
  std::unordered_map<uint64_t, Record> earlier_;  // by lowered hash; looked up, never walked
  std::vector<Best> best_;                        // fastest first
  std::vector<double> compile_seconds_;
  const Stopwatch* wall_ = nullptr;
  TuneResult result_;
};

}  // namespace

TuneResult tune(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                const Environment& environment, const TuneOptions& options, const TuneHooks& hooks) {
  return Run(workload, space, store, runner, environment, options, hooks).run();
}

}  // namespace tunesmith
