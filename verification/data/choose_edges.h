// How far the random set of a workload goes towards the ends of its types' ranges.
#pragma once

#include "data/trial.h"

namespace tunesmith {

/// Puts as wide edges into the set that was chosen (`drawn`, `trial` is the reference on it) as leave its
/// bounds tight, and its results finite: replaces all three. `room`: how many draws the set may have more.
void choose_edges(const DataQuestion& question, int64_t room, DrawnData& drawn, Trial& trial,
                  const RunReference& run);

}  // namespace tunesmith
