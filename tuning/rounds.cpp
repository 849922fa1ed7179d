#include "rounds.h"

#include <algorithm>
#include <optional>
#include <span>
#include <unordered_map>

namespace tunesmith {
namespace {

/// While nothing faster is known, programs slower than this, in seconds, are not repeated: the unscheduled
/// program may take a thousand times as long as the best.
constexpr double kFirstLimit = 0.01;

}  // namespace

std::vector<Measured> Rounds::run(std::vector<CandidatePtr> proposed, int64_t end) {
  proposed.resize(std::min(proposed.size(), static_cast<size_t>(std::max<int64_t>(rule_.room(end), 0))));
  const RoundRecord record = begin(proposed);
  std::vector<Measured> results = evaluate(proposed, record, TrialLog::Kind::New);
  if (results.empty()) return results;
  const MachineLock::Turn turn = evaluator_.compute_turn();
  evaluate_model(results, record);
  context_.learn(results);
  return results;
}

void Rounds::run_again(const std::vector<CandidatePtr>& retried) {
  const std::vector<Measured> results = evaluate(retried, {}, TrialLog::Kind::Again);
  if (!results.empty()) context_.learn(results);
}

RoundRecord Rounds::begin(const std::vector<CandidatePtr>& proposed) {
  RoundRecord record{++begun_, {}};
  const MachineLock::Turn turn = evaluator_.compute_turn();
  const std::optional<std::vector<double>> scores = context_.foresee(proposed);
  if (!scores) return record;
  for (size_t i = 0; i < proposed.size(); ++i) record.scores[proposed[i]->lowered_hash] = (*scores)[i];
  return record;
}

void Rounds::evaluate_model(const std::vector<Measured>& results, const RoundRecord& record) {
  if (record.scores.empty()) return;
  std::vector<double> scores;
  for (const Measured& one : results) scores.push_back(record.scores.at(one.candidate->lowered_hash));
  if (const std::optional<ModelBatch> batch = context_.evaluate_model(results, scores))
    model_batches_.push_back(*batch);
}

std::vector<Measured> Rounds::evaluate(const std::vector<CandidatePtr>& proposed, const RoundRecord& record,
                                       TrialLog::Kind kind) {
  std::vector<CandidatePtr> fresh;
  std::unordered_map<uint64_t, Measured> done;
  for (const CandidatePtr& candidate : proposed) {
    if (std::optional<Measured> recorded = known_.take(candidate->lowered_hash)) {
      recorded->candidate = candidate;  // with its program, which the history has not kept
      done.emplace(candidate->lowered_hash, std::move(*recorded));
    } else {
      fresh.push_back(candidate);
    }
  }
  if (kind == TrialLog::Kind::New) {
    // Remaining results of an interrupted round count as measured.
    const int64_t left = rule_.left() - static_cast<int64_t>(known_.left_of_cut_round());
    fresh.resize(std::min(fresh.size(), static_cast<size_t>(std::max<int64_t>(left, 0))));
  }
  const std::vector<Built> built = evaluator_.build(fresh);
  int64_t index = rule_.trials();
  const size_t at_once = built.empty() ? 1 : evaluator_.at_once();
  for (size_t begin = 0; begin < built.size() && !rule_.stopped(); begin += at_once) {
    const std::span<const Built> group =
        std::span(built).subspan(begin, std::min(at_once, built.size() - begin));
    const double limit = log_.leaders().seconds() > 0.0 ? log_.leaders().seconds() : kFirstLimit;
    for (Measured& one : evaluator_.measure(group, limit, index, record)) {
      ++index;
      log_.add(one, kind);
      done.emplace(one.candidate->lowered_hash, std::move(one));
    }
  }
  std::vector<Measured> results;
  for (const CandidatePtr& candidate : proposed) {
    if (const auto found = done.find(candidate->lowered_hash); found != done.end())
      results.push_back(found->second);
  }
  return results;
}

}  // namespace tunesmith
