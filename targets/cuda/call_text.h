// Calls of tensor intrinsics as CUDA C++. The text of an implementation is a statement in which the name of
// an operand stands for it: a pointer to its first element, or, of what a warp holds, the registers of a
// thread; NAME_stride is the distance of its rows where that is free.
#pragma once

#include <string>
#include <vector>

#include "expr_text.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::cuda {

/// Throws LowerError where the intrinsic is not written so, or an operand is a part of what is held in one
/// piece.
/// A pointer whose text says NAME_offset, too, is one to the fixed part of the offset (address_parts.h).
/// NAME_at(e) is the address of what lies e elements behind the first one, as the buffer's swizzle has it.
std::vector<std::string> call_lines(const Loop& call, const Names& names, ExprText& exprs);

/// The registers of a thread for a buffer that calls hold as `operand`: one array for each piece.
std::string held_declaration(const TensorOperand& operand, const Buffer& buffer, const std::string& name);

}  // namespace tunesmith::cuda
