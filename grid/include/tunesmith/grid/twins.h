// Finds twins for targets whose devices have a grid of threads (TwinVerification::make_finder).
#pragma once

#include <memory>

#include "tunesmith/target/twin_verification.h"

namespace tunesmith {

/// Shrinks the workload's parameters one after another as long as the candidate's
/// schedule stays the same (docs/devices.md). `workload` and `space` outlive it.
std::unique_ptr<ReducedInstanceFinder> make_grid_twin_finder(const Workload& workload, const Space& space);

}  // namespace tunesmith
