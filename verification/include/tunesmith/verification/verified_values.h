// The extents at which a program with varying extents is verified.
#pragma once

#include <cstdint>
#include <vector>

#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Values of a program's parameters, in its order.
using ParameterValues = std::vector<int64_t>;

/// The values at which programs are verified in addition to typical_values(): both ends, primes, and random
/// ones.
std::vector<ParameterValues> verified_values(const Program& program, uint64_t seed);

/// The values at which the best programs are timed, to choose a program for each interval of values:
/// typical_values() first, then others down to the lowest.
std::vector<ParameterValues> ranked_values(const Program& program);

}  // namespace tunesmith
#pragma GCC visibility pop
