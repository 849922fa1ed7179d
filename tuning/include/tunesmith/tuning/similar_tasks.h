// Defines which tasks are similar, so that results of one help
// another: for task schedulers (TaskHistory::group) and for searches
// that begin with programs of similar tasks (SearchContext::seeds).
#pragma once

#include <cstdint>

#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Equal for similar workloads: those of one definition and of the same data types.
uint64_t similarity_group(const Workload& workload);

/// The distance of the shapes of two similar workloads: the sum of |log2| of the ratios of their
/// extents over all dimensions of inputs and outputs. Infinite if these do not correspond.
double shape_distance(const Workload& a, const Workload& b);

}  // namespace tunesmith
#pragma GCC visibility pop
