// Interpolates between elements at computed positions.
#pragma once

#include "statements.h"

namespace tunesmith::operators_onnx {

enum class Outside { Zeros, Border, Reflection };

/// How positions outside of one axis are treated.
struct SampledAxis {
  int64_t extent;
  Outside outside;
  bool corners;  ///< the axis ends at the centres of its outermost elements, not half an element later

  /// A position, clamped or reflected into the axis.
  std::string position(const std::string& x) const;
  /// The same for an index, an i64, except that zeros and clamping are left to the reader.
  std::string index(const std::string& index) const;
};

/// The weight of tap `r` for a position at distance `f` behind the element below it: the first of two taps,
/// or the second of four.
std::string tap_weight(size_t taps, const std::string& r, const std::string& f);

/// `value` where all indices are inside, 0 elsewhere.
std::string zero_outside(const Indices& indices, const Shape& extents, const std::string& value);

}  // namespace tunesmith::operators_onnx
