// Which tasks are similar: what is learned of one says something of the other. The one definition, for task
// schedulers (TaskHistory::group) and for searches that begin with the programs of others
// (SearchContext::seeds).
#pragma once

#include <cstdint>

#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Equal for similar workloads: those of one definition and of the same data types.
uint64_t similarity_group(const Workload& workload);

/// How far apart the shapes of two similar workloads are: the sum of the factors between their extents, as
/// logarithms of 2, over all dimensions of inputs and outputs. Infinity where these do not correspond.
double shape_distance(const Workload& a, const Workload& b);

}  // namespace tunesmith
#pragma GCC visibility pop
