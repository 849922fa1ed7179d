// How a target whose devices have a grid of threads finds twins (TwinVerification::make_finder).
#pragma once

#include <memory>

#include "tunesmith/target/twin_verification.h"

namespace tunesmith {

/// Shrinks one parameter of the workload after the other while the candidate's schedule stays the same
/// (docs/devices.md). `workload` and `space` outlive it.
std::unique_ptr<ReducedInstanceFinder> make_grid_twin_finder(const Workload& workload, const Space& space);

}  // namespace tunesmith
