// Reads between elements, at positions that are computed.
#pragma once

#include "statements.h"

namespace tunesmith::operators_onnx {

enum class Outside { Zeros, Border, Reflection };

/// Along an axis: how a position is brought inside, and what the elements around it count.
struct SampledAxis {
  int64_t extent;
  Outside outside;
  bool corners;  ///< what is outside begins behind the first and the last element, not half of one later

  /// A position, brought between the borders.
  std::string position(const std::string& x) const;
  /// The index of an element, an i64, the same way; zeros and the border are left to who reads.
  std::string index(const std::string& index) const;
};

/// Of the tap number `r`, what it counts for a position that lies `f` behind the element below it. Of two
/// taps the first is that element, of four the second is.
std::string tap_weight(size_t taps, const std::string& r, const std::string& f);

/// `value` where all indices are inside, 0 elsewhere.
std::string zero_outside(const Indices& indices, const Shape& extents, const std::string& value);

}  // namespace tunesmith::operators_onnx
