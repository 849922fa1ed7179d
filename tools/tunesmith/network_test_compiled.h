// Tests of ONNX's format through compiled code.
#pragma once

#include <memory>

#include <tunesmith/space/space.h>

#include "network_test_case.h"

namespace tunesmith::cli {

/// Plans a network as `network build` does, with kernels of the space's target that have no schedule, and
/// runs it: the planned steps in this process, or (`build`) the library that is written.
ComputeNetwork compiled_networks(std::unique_ptr<Space> space, bool build);

}  // namespace tunesmith::cli
