// How much memory an access touches in a set of loops.
#pragma once

#include <vector>

namespace tunesmith::features {

/// A loop over an access: `trips` steps of `stride` elements. A stride of 0 is one that is not known.
struct Step {
  double stride = 0.0;
  double trips = 1.0;
};

struct Footprint {
  double elements = 1.0;
  double runs = 1.0;  // contiguous pieces, all of one length
  double step =
      0.0;  // elements: the greatest common divisor of the steps between runs; 0: one run; 1: not known
};

/// Distinct elements that the steps reach from one element, counting
/// overlapping windows once. `steps` are sorted by stride, unknown ones last.
Footprint footprint(const std::vector<Step>& steps);

}  // namespace tunesmith::features
