#pragma once

#include <cstdint>

#include "tunesmith/intrinsics/tensor_intrinsic.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The semantics of an intrinsic that no group executes, as a program that calls the intrinsic;
/// operands that need another scope or layout are copied, those in global memory with a free stride so that
/// it is at least `least_stride` elements. Throws ScheduleError if it cannot be called.
Program single_call(const TensorIntrinsicPtr& called, int64_t least_stride = 0);

}  // namespace tunesmith
#pragma GCC visibility pop
