// Chooses how far a workload's random set extends towards the ends of its types' ranges.
#pragma once

#include "data/trial.h"

namespace tunesmith {

/// Adds the widest edges to the chosen set (`drawn`, with the reference's `trial`) that keep its bounds
/// tight and its results finite; replaces all three. `room`: the number of draws that may be added.
void choose_edges(const DataQuestion& question, int64_t room, DrawnData& drawn, Trial& trial,
                  const RunReference& run);

}  // namespace tunesmith
