// Tensor intrinsics as plugins of the stable tier get them, for tests that include nothing else.
#pragma once

#include "plugin/stable_interface.h"

namespace tunesmith_test {

/// C[i, j] = sum A[i, k] * B[k, j], 16 x 16 x 8, f64. Its tensorize() knows the intrinsics of
/// tests/intrinsics.yaml.
tunesmith_schedule* make_schedule_with_unit();
/// A context with the extension "unit" alone, which has the intrinsics of tests/intrinsics.yaml. Lives as
/// long as the process.
tunesmith_context* context_with_unit();

}  // namespace tunesmith_test
