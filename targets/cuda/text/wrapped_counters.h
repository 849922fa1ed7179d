// Positions in a ring, as that of a stage: counted and wrapped by a comparison, not divided.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

struct WrappedCounter {
  Expr value;  // floormod(variable + constant, period), as it stands in the loop
  int64_t period = 1;
  int64_t first = 0;  // its value in the first iteration
  std::string name;   // in the text

  /// Has it, in each iteration, the value that the other one has in the next?
  bool follows(const WrappedCounter& other) const {
    return period == other.period && first == (other.first + 1) % period;
  }
};

/// Those that stand in the body of a loop from a constant, each once, in the order of the text.
std::vector<WrappedCounter> wrapped_counters(const Loop& loop);

}  // namespace tunesmith::cuda
