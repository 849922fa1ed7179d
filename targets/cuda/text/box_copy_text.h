// Bulk copies: one thread requests a box of a tensor in global memory, which arrives at a
// barrier in shared memory. The tensor is a kernel parameter: a map that the host encodes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "text/expr_text.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::cuda {

/// A buffer as rows from which boxes are copied. The innermost extent comes first; elements have 16 bits.
struct MappedTensor {
  Buffer buffer;
  std::string name;  // of the kernel parameter
  std::array<unsigned, 2> extents{}, box{};
};

struct BoxCopies {
  std::string arrival;             // the barrier at which copies arrive; "": copies are not allowed here
  std::vector<MappedTensor> maps;  // of the kernel
};

/// Position of a call's operand in its tensor in global memory.
struct BoxPlace {
  std::string map, column, row;  // as text
};

/// For operand `position` of the call. Adds its map to `copies`. Throws LowerError
/// if no barrier waits for the copy, or the operand is not provably a box of rows.
BoxPlace box_place(const TensorCall& call, size_t position, const Analyzer& ranges, Names& names,
                   ExprText& exprs, BoxCopies& copies);

}  // namespace tunesmith::cuda
