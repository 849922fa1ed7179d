// Calls of tensor intrinsics as CUDA C++. The text of an implementation is a statement in which the name of
// an operand stands for it: a pointer to its first element, or, of what a warp holds, the registers of a
// thread; NAME_stride is the distance of its rows where that is free.
#pragma once

#include <string>
#include <vector>

#include "text/box_copy_text.h"
#include "text/expr_text.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::cuda {

/// Throws LowerError where the intrinsic is not written so, or an operand is a part of what is held in one
/// piece.
/// A pointer whose text says NAME_offset, too, is one to the fixed part of the offset (address_parts.h).
/// NAME_at(e) is the address of what lies e elements behind the first one, as the buffer's swizzle has it.
/// Of a bulk copy (box_copy_text.h) NAME_map, NAME_column and NAME_row say where the operand NAME lies, and
/// `arrival` is the barrier.
std::vector<std::string> call_lines(const Loop& call, Names& names, ExprText& exprs, BoxCopies& copies);

/// A statement, as what waits for calls, with the number of groups that may stay under way in the place of
/// `pending`.
std::string waiting_line(const std::string& text, int64_t pending);

/// The registers of a thread for a buffer that calls hold as `operand`: one array for each piece.
std::string held_declaration(const TensorOperand& operand, const Buffer& buffer, const std::string& name);

}  // namespace tunesmith::cuda
