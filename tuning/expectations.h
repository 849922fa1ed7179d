// What a searcher's own model expects of a round, until it was measured.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <unordered_map>

#include "tunesmith/search/searcher.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

class Expectations {
 public:
  /// Of what the searcher proposed last; none where it has no model.
  Expectations(const Searcher& searcher, std::span<const CandidatePtr> proposed);

  /// How well they ordered what became of these, which are of the round. Nothing when there are none, or too
  /// few results to say. `trials`: before the round.
  std::optional<ModelBatch> evaluate_model(std::span<const Measured> results, int64_t trials) const;

 private:
  std::unordered_map<uint64_t, double> expected_;  // by lowered hash; looked up in, never walked
};

}  // namespace tunesmith
