// How a batch is chosen from what a surrogate believes.
#pragma once

#include <functional>
#include <vector>

#include "surrogate.h"

namespace tunesmith::bayesian {

/// By how much a value of this mean and deviation is expected to exceed `best`.
double expected_improvement(double mean, double deviation, double best);

/// Chooses one after the other the point of the highest value(slot, point), which is asked anew for each
/// slot, weighed by nothing else; every second one near. `chosen(point)` is told of each choice.
std::vector<size_t> choose_batch(const Pool& pool, size_t count,
                                 const std::function<double(size_t slot, size_t point)>& value,
                                 const std::function<void(size_t point)>& chosen);

}  // namespace tunesmith::bayesian
