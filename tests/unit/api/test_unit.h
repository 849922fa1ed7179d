// Tensor intrinsics as plugins of the stable tier meet them, for tests that see nothing else of the kernel.
#pragma once

#include "plugin/stable_interface.h"

namespace tunesmith_test {

/// Of C[i, j] = sum A[i, k] * B[k, j], 16 x 16 x 8, f64. Its tensorize() knows those of
/// tests/intrinsics.yaml.
tunesmith_schedule* make_schedule_with_unit();
/// The extension "unit" is here and gives those of tests/intrinsics.yaml; no other is. Lives as long as the
/// process.
tunesmith_context* context_with_unit();

}  // namespace tunesmith_test
