#pragma once

#include "tunesmith/intrinsics/tensor_intrinsic.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The semantics of an intrinsic that no group executes, as a program that calls the intrinsic;
/// operands that need another scope or layout are copied. Throws ScheduleError if it cannot be called.
Program single_call(const TensorIntrinsicPtr& called);

}  // namespace tunesmith
#pragma GCC visibility pop
