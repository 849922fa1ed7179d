#include "tunesmith/tuning/model_batches.h"

#include <algorithm>
#include <limits>
#include <map>

#include "evaluate_scores.h"

namespace tunesmith {
namespace {

struct Round {
  uint64_t first = std::numeric_limits<uint64_t>::max();  // index in its run
  std::vector<double> scores;
  std::vector<double> throughputs;
};

}  // namespace

std::vector<ModelBatch> model_batches(std::span<const Record> records) {
  std::map<int, Round> rounds;
  for (const Record& record : records) {
    if (!record.score) continue;
    Round& round = rounds[record.round];
    round.first = std::min(round.first, record.candidate);
    round.scores.push_back(*record.score);
    round.throughputs.push_back(record.timing ? 1.0 / record.timing->min : 0.0);
  }
  std::vector<ModelBatch> batches;
  for (const auto& [number, round] : rounds) {
    if (round.scores.size() < kMinEvaluated) continue;
    ModelBatch batch = evaluate_scores(round.scores, round.throughputs);
    batch.trials = static_cast<int64_t>(round.first);
    batches.push_back(batch);
  }
  return batches;
}

}  // namespace tunesmith
