// Builds the loop nest that represents a call of a tensor intrinsic in a lowered program.
#pragma once

#include "tunesmith/intrinsics/intrinsic_match.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The intrinsic's semantics over the operands of `match`, with one index (the offset) per access. An
/// annotation of the outermost loop marks the nest as a call.
StmtPtr call_nest(Program& program, const TensorIntrinsicPtr& called, const IntrinsicMatch& match);

}  // namespace tunesmith
#pragma GCC visibility pop
