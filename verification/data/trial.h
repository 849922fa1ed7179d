// The reference's result on one draw, and the size of mistakes that its bounds would hide.
#pragma once

#include <algorithm>
#include <vector>

#include "tunesmith/verification/choose_data.h"

namespace tunesmith {

/// The reference's result on one draw.
struct Trial {
  std::vector<Tensor> values;
  std::vector<Tensor> bounds;      // of the outputs with a bound, in order
  bool finite = true;              // all values are
  bool vanishes = false;           // an output, which then tells nothing but that it does
  double looseness = 0.0;          // of the worst output
  double looseness_of_term = 0.0;  // times the terms of a longest sum
  size_t loosest = 0;              // which one that is

  /// For output i; null if it has none.
  const Tensor* bound(const DataQuestion& question, size_t i) const {
    if (!question.has_bound[i]) return nullptr;
    const auto end = question.has_bound.begin() + static_cast<std::ptrdiff_t>(i);
    return &bounds[static_cast<size_t>(std::count(question.has_bound.begin(), end, true))];
  }

  /// The share of elements with tight bounds; elements far below `typical` only have to stay there.
  double visible(const DataQuestion& question, double typical) const;
  /// The root mean square of the outputs' finite elements.
  double typical() const;
  /// A right program may compute an infinity somewhere, or no bound is known.
  bool overflows(const DataQuestion& question) const;

  bool usable() const { return looseness <= kLoosest; }
  /// Infinite elements are only compared as such; fewer terms do not help if bounds are too loose.
  bool better_than(const Trial& other) const {
    if (finite != other.finite) return finite;
    if (usable() != other.usable()) return usable();
    if (vanishes != other.vanishes) return !vanishes;
    return looseness_of_term < other.looseness_of_term;
  }
};

/// Runs the reference.
Trial try_inputs(const DataQuestion& question, const std::vector<Tensor>& inputs, const RunReference& run);

}  // namespace tunesmith
