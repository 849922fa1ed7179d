// What a searcher's own model expects of a round, until it is measured.
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
  /// For the searcher's last proposal; empty if it has no model.
  Expectations(const Searcher& searcher, std::span<const CandidatePtr> proposed);

  /// How well the expectations ordered the results of the round. Nothing
  /// if there are none, or too few results. `trials`: before the round.
  std::optional<ModelBatch> evaluate_model(std::span<const Measured> results, int64_t trials) const;

 private:
  std::unordered_map<uint64_t, double> expected_;  // by lowered hash; never iterated
};

}  // namespace tunesmith
