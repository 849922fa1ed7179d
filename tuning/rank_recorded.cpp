#include "tunesmith/tuning/rank_recorded.h"

#include <set>
#include <utility>

#include "evaluator.h"
#include "final_ranking.h"
#include "history.h"
#include "rank.h"
#include "run_record.h"
#include "tunesmith/measure/verifier_version.h"

namespace tunesmith {
namespace {

/// The last ranking had both.
bool were_compared(const Record& one, const Record& other) {
  return other.kind == MeasurementKind::Ranking && other.run == one.run && other.ranking == one.ranking;
}

/// A ranking's budget in seconds; small, since the user did not ask for a ranking.
constexpr double kRankingSeconds = 2.0;

}  // namespace

RankedRecords rank_recorded(const Workload& workload, const Space& space, RecordStore& store, Runner& runner,
                            const Environment& environment, const TuneOptions& options) {
  constexpr size_t kLookedAt = 64;
  constexpr size_t kRanked = kFinalists + 1;  // all stay in all rounds, and so are on record as compared
  const TaskKey key = task_key(workload, space, options.measure_threads);
  const BestQuery query{key, environment.machine(), {}};
  RankedRecords ranked;
  if (!store.never_compared(query)) return ranked;
  const std::vector<Record> best = store.best(query, kLookedAt);
  const RecordedNames names(workload, store, space.intrinsics());
  std::vector<Measured> leaders;
  std::set<uint64_t> unchecked;
  for (const Record& record : best) {
    if (leaders.size() == kRanked) break;
    if (!leaders.empty() && were_compared(best.front(), record)) continue;
    CandidatePtr candidate = candidate_of(record, workload, space, names);
    if (!candidate) continue;
    leaders.push_back({std::move(candidate), record.timing, std::nullopt});
    if (record.verifier.value_or(0) < kVerifierVersion) unchecked.insert(record.lowered_hash);
  }
  if (leaders.size() < 2) return ranked;
  const RecordedRun run = make_run(space, environment, options);
  store.add_environment(environment);
  store.add_space({run.space, run.rules_hash, space.rules()});
  store.add_run(run);
  const TuneHooks hooks;
  ThreadPool pool(options.threads);
  Evaluator evaluator(workload, space, store, runner, names, common_record(key, run, names.workload()),
                      options, hooks, pool);
  FinalRanking ranking(workload, space, store, runner, evaluator, names, options, environment.machine());
  TuneResult result;
  ranking.rank(leaders, std::move(unchecked), run, key, kRankingSeconds, result);
  store.end_run(run.id, now_ms(), "ranking");
  ranked.programs = leaders.size();
  ranked.dropped = std::move(result.dropped);
  return ranked;
}

}  // namespace tunesmith
