// Calls of tensor intrinsics as CUDA C++. The text of an implementation is a statement with the operands'
// names: a name is a pointer to the first element, or, for a buffer held by a warp, the thread's registers;
// NAME_stride is the row stride if it is free.
#pragma once

#include <string>
#include <vector>

#include "text/box_copy_text.h"
#include "text/expr_text.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::cuda {

/// Throws LowerError if the intrinsic has no such text, or an operand is a part
/// of a buffer held in one piece. Where the text uses NAME_offset, the pointer
/// is to the fixed part of the offset (address_parts.h). NAME_at(e) is the
/// address of the element at distance e from the first one, with the buffer's
/// swizzle. For a bulk copy (box_copy_text.h), NAME_load is the function that
/// copies a box of operand NAME, NAME_map and NAME_place say which one, and `arrival` is the barrier.
std::vector<std::string> call_lines(const Loop& call, Names& names, ExprText& exprs, BoxCopies& copies);

/// A wait statement for calls; `pending` is replaced
/// by the number of groups that may stay in flight.
std::string waiting_line(const std::string& text, int64_t pending);

/// A thread's registers for a buffer that calls hold as `operand`: one array per piece.
std::string held_declaration(const TensorOperand& operand, const Buffer& buffer, const std::string& name);

}  // namespace tunesmith::cuda
