// Ring positions, e.g. of a stage: counters that wrap by comparison instead of division.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

struct WrappedCounter {
  Expr value;  // floormod(variable + constant, period), as it stands in the loop
  int64_t period = 1;
  int64_t first = 0;  // value in the first iteration
  std::string name;   // in the text

  /// Does it have the value that the other one has in the next iteration?
  bool follows(const WrappedCounter& other) const {
    return period == other.period && first == (other.first + 1) % period;
  }
};

/// The distinct ones in the body of a loop that starts at a constant, in the order of the text.
std::vector<WrappedCounter> wrapped_counters(const Loop& loop);

}  // namespace tunesmith::cuda
