// Schedules as plugins of the stable tier get them, for tests that see nothing else of the kernel.
#pragma once

#include "plugin/stable_interface.h"

namespace tunesmith_test {

/// Of C[i, j] = sum A[i, k] * B[k, j], 16 x 16 x 8; its block is called "C".
tunesmith_schedule* make_gmm_schedule();
/// Of R = relu(C) behind it; its blocks are called "C" and "R".
tunesmith_schedule* make_relu_schedule();

}  // namespace tunesmith_test
