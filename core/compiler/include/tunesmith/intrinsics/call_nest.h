// Builds the loops by which a lowered program calls a tensor intrinsic.
#pragma once

#include "tunesmith/intrinsics/intrinsic_match.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/program.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The intrinsic's semantics over the operands of `match`, each with one index, the offset
/// of its first element. The outermost loop has the annotation that marks it as a call.
StmtPtr call_nest(Program& program, const TensorIntrinsicPtr& called, const IntrinsicMatch& match);

}  // namespace tunesmith
#pragma GCC visibility pop
