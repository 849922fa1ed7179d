#pragma once

#include <cstdint>

#include "tunesmith/intrinsics/tensor_intrinsic.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// A program that computes the semantics of an intrinsic by one call, for intrinsics that a single thread
/// executes. Copies operands that need another scope or layout; a free stride of a copy in global memory is
/// at least `least_stride` elements. Throws ScheduleError if the intrinsic cannot be called.
Program single_call(const TensorIntrinsicPtr& called, int64_t least_stride = 0);

}  // namespace tunesmith
#pragma GCC visibility pop
