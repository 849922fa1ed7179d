// Cost-model accuracy: how well scores order measured programs.
#pragma once

#include <cstddef>
#include <span>

#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

/// Minimum number of programs.
inline constexpr size_t kMinEvaluated = 8;

/// Everything except ModelBatch::trials. As many scores as throughputs, at least one.
ModelBatch evaluate_scores(std::span<const double> scores, std::span<const double> throughputs);

/// Detects a harmful model.
class ChanceWatch {
 public:
  /// Were this round and the previous two ordered worse than chance, that is, as
  /// badly as one in twenty random orders? A model without knowledge is not reported.
  bool worse(const ModelBatch& batch);

 private:
  int in_succession_ = 0;
};

}  // namespace tunesmith
