// Is what a candidate computed close enough to the reference?
#pragma once

#include <span>
#include <string>

#include "tunesmith/ir/buffer.h"

namespace tunesmith {

struct Comparison {
  double worst = 0.0;   // the largest error over its tolerance; infinite for a NaN that should be none
  std::string message;  // where and how far, when worst > 1
};

/// `values` are the candidate's, in the buffer's type; `reference` and `magnitude` f64 (for integer buffers
/// `reference` has the buffer's type, and must be met exactly). The tolerance of an element is `unit` * its
/// magnitude; where that is not finite, `unit` * |reference|.
Comparison compare_output(const BufferNode& buffer, const void* values, const void* reference,
                          const double* magnitude, double unit);

}  // namespace tunesmith
