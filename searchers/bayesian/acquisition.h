// Chooses a batch by a surrogate's predictions.
#pragma once

#include <functional>
#include <vector>

#include "surrogate.h"

namespace tunesmith::bayesian {

/// The expected excess over `best` of a value with this mean and deviation.
double expected_improvement(double mean, double deviation, double best);

/// Chooses points one by one, always the one with the highest value(slot, point), which may differ by slot;
/// every second one is inside a trust region. Calls `chosen(point)` after each choice.
std::vector<size_t> choose_batch(const Pool& pool, size_t count,
                                 const std::function<double(size_t slot, size_t point)>& value,
                                 const std::function<void(size_t point)>& chosen);

}  // namespace tunesmith::bayesian
