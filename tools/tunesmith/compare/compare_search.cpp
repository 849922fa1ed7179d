// One search of a comparison, live or on a table.
#include <algorithm>
#include <limits>
#include <unordered_map>

#include <fmt/format.h>

#include <tunesmith/support/hash.h>
#include <tunesmith/tuning/quiet_samples.h>
#include <tunesmith/tuning/tuner.h>

#include "common/scratch_store.h"
#include "compare.h"
#include "say.h"

namespace tunesmith::cli {
namespace {

constexpr double kNever = std::numeric_limits<double>::infinity();

MeasureOptions measure_options(const CompareSettings& settings) {
  MeasureOptions options;
  options.threads = settings.arguments.threads;
  options.time_out_seconds = settings.arguments.candidate_time_out;
  options.machine = settings.machine;
  options.stop = settings.stop;
  return options;
}

std::shared_ptr<const Space> compose(const Subject& subject, Strategy& strategy, MeasuringPlace* place,
                                     int threads) {
  if (!subject.table) return measured_space(*strategy.session, strategy.spec, *place, threads);
  return std::make_shared<const Space>(table_space(*subject.table, strategy.spec),
                                       strategy.session->registry(), make_table_target(*subject.table));
}

/// Identifies the recording: searches on another recording are different searches.
std::string identity_of(const Table& table) {
  uint64_t hash = hash_bytes(table.target + table.environment.text());
  for (const TableRow& row : table.rows)
    hash = hash_combine(hash_combine(hash, row.lowered_hash),
                        hash_bytes(fmt::format("{}", seconds_of(row).value_or(0.0))));
  return "table " + hex64(hash);
}

}  // namespace

Search::Search(const Subject& subject, Strategy& strategy, const CompareSettings& settings)
    : subject_(subject),
      strategy_(strategy),
      settings_(settings),
      place_(subject.table ? nullptr : measuring_place(*strategy.session, strategy.spec)),
      space_(compose(subject, strategy, place_.get(), settings.arguments.threads)) {
  if (place_)
    measuring_ =
        std::make_unique<Measuring>(place_, *strategy.session, *space_, measure_options(settings), "", say);
}

const Environment& Search::environment() const {
  return measuring_ ? measuring_->environment() : subject_.table->environment;
}

int Search::threads() const { return measuring_ ? measuring_->threads() : subject_.table->threads; }

std::string Search::key(uint64_t seed) const {
  const std::string where = subject_.table
                                ? identity_of(*subject_.table)
                                : fmt::format("machine {} threads {} {}", hex64(environment().machine()),
                                              threads(), space_->task_target().str());
  const std::string what =
      fmt::format("{}{}{}", space_->rules(), space_->search_text(), space_->cost_model_text());
  return fmt::format("{} {} {} {} seed {} trials {} batch {}", subject_.workload.key, where, strategy_.name,
                     hex64(hash_bytes(what)), seed, settings_.arguments.trials, settings_.arguments.batch);
}

FinishedSearch Search::search(uint64_t seed) {
  FinishedSearch finished{key(seed), "", {}};
  SearchRun& run = finished.run;
  run.workload = subject_.name;
  run.strategy = strategy_.name;
  run.seed = seed;

  TuneOptions options;
  options.trials = settings_.arguments.trials;
  options.batch = settings_.arguments.batch;
  options.seed = seed;
  options.resume = false;
  options.command = settings_.command_line;
  options.measure_threads = threads();
  if (!subject_.table) options.machine = settings_.machine;

  std::unique_ptr<Runner> runner;
  const TableRunner* table = nullptr;
  if (subject_.table) {
    auto replaying = std::make_unique<TableRunner>(*subject_.table);
    table = replaying.get();
    runner = std::move(replaying);
  } else {
    runner = measuring_->runner(subject_.workload);
  }
  TuneHooks hooks;
  hooks.stop = settings_.stop;
  if (table != nullptr)
    hooks.refuse = [table](const Candidate& candidate) { return table->refuse(candidate); };
  hooks.progress = [&](const TuneProgress& progress) {
    run.trials = progress.trials;
    run.wall_seconds = progress.elapsed_seconds + (table != nullptr ? table->spent_seconds() : 0.0);
    const double best = progress.best_seconds.value_or(kNever);
    const double before = run.improvements.empty() ? kNever : run.improvements.back().seconds;
    if (best < before) run.improvements.push_back({progress.trials, run.wall_seconds, best});
  };
  ScratchStore store;
  const TuneResult result = tune(subject_.workload, *space_, *store, *runner, environment(), options, hooks);
  run.final_seconds = result.best_id.empty() ? kNever : result.best_seconds;
  for (const auto& [cause, count] : result.failures)
    run.failures[std::string(failure_cause_name(cause))] = count;
  run.refusals = result.refusals;
  run.model_batches = result.model_batches;
  run.own_batches = result.own_batches;
  run.model_dropped = result.model_dropped;
  run.search_seconds = result.times.propose + result.times.model;
  run.exhausted = result.exhausted;
  if (!result.best_id.empty()) finished.trace = result.best_trace.str();
  return finished;
}

void rank_together(const Subject& subject, const std::vector<Search*>& searches,
                   const std::vector<FinishedSearch*>& finished) {
  const std::unique_ptr<Runner> runner = searches.front()->runner();
  std::vector<CompiledKernel> kernels;
  std::unordered_map<uint64_t, size_t> places;  // by lowered hash; never iterated
  std::vector<std::pair<FinishedSearch*, size_t>> timed;
  for (FinishedSearch* one : finished) {
    if (one->trace.empty()) continue;
    const auto search = std::ranges::find_if(
        searches, [&](const Search* made) { return made->strategy().name == one->run.strategy; });
    const Space& space = (*search)->space();
    const auto candidate = space.materialise(subject.workload.program,
                                             Trace::parse(one->trace, "a result's trace"), RandomStream(0));
    if (!candidate) continue;  // an older version wrote the trace to the results file
    const auto [place, fresh] = places.try_emplace((*candidate)->lowered_hash, kernels.size());
    if (fresh) {
      std::optional<CompiledKernel> kernel =
          runner->as_candidate((*candidate)->trace, (*candidate)->lowered_hash);
      if (!kernel) {
        auto compiled = space.target().compile((*candidate)->lowered, "tunesmith_compare");
        if (!compiled)
          throw EnvironmentError(fmt::format("the best program does not compile: {}", compiled.error()));
        kernel = std::move(*compiled);
      }
      kernels.push_back(*std::move(kernel));
    }
    timed.emplace_back(one, place->second);
  }
  if (kernels.empty()) return;
  std::vector<const CompiledKernel*> in_turn;
  for (const CompiledKernel& kernel : kernels) in_turn.push_back(&kernel);
  constexpr InterleaveOptions kRounds{.rounds = 60, .budget_seconds = 30.0, .min_rounds = 10};
  const std::vector<InterleavedTimes> times = runner->interleave(in_turn, kRounds);
  std::vector<std::span<const double>> samples;
  for (const InterleavedTimes& one : times) samples.emplace_back(one.samples);
  const std::vector<std::vector<double>> quiet = quiet_samples(samples);
  for (const auto& [one, place] : timed) {
    if (!quiet[place].empty()) one->run.final_seconds = quantile_interval(quiet[place], kTimeQuantile).value;
  }
}

}  // namespace tunesmith::cli
