// How well scores order what was measured.
#pragma once

#include <cstddef>
#include <span>

#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

/// Fewer programs than these say nothing.
inline constexpr size_t kMinEvaluated = 8;

/// All but ModelBatch::trials. As many scores as throughputs, and not none.
ModelBatch evaluate_scores(std::span<const double> scores, std::span<const double> throughputs);

/// Says when a model does harm.
class ChanceWatch {
 public:
  /// Were this round and the two before ordered worse than chance? Worse than chance is what one in twenty
  /// orders drawn blindly is, so that a model without knowledge is left in peace.
  bool worse(const ModelBatch& batch);

 private:
  int in_succession_ = 0;
};

}  // namespace tunesmith
