#pragma once

#include "tunesmith/intrinsics/tensor_intrinsic.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The semantics of an intrinsic that no group executes, with the intrinsic called in their place; operands
/// that must lie elsewhere or otherwise are copied. Throws ScheduleError where it cannot be called.
Program single_call(const TensorIntrinsicPtr& called);

}  // namespace tunesmith
#pragma GCC visibility pop
