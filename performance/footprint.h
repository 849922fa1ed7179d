// The memory that an access touches in a set of loops.
#pragma once

#include <vector>

namespace tunesmith::features {

/// A loop over an access: `trips` steps of `stride` elements; stride 0: unknown.
struct Step {
  double stride = 0.0;
  double trips = 1.0;
};

struct Footprint {
  double elements = 1.0;
  double runs = 1.0;  // contiguous pieces, all of one length
  double step = 0.0;  // gcd of the steps between runs, in elements; 0: a single run; 1: unknown
};

/// The distinct elements that the steps reach from one element; overlapping windows count once. `steps` are
/// sorted by stride, unknown ones last.
Footprint footprint(const std::vector<Step>& steps);

}  // namespace tunesmith::features
