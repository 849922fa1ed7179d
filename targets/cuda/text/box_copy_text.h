// Bulk copies: boxes of a tensor in global memory, which one thread asks for, and which arrive at a barrier
// in shared memory. The tensor is a parameter of the kernel, a map that the host encodes.
#pragma once

#include <array>
#include <string>
#include <vector>

#include "text/expr_text.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::cuda {

/// A buffer as rows, of which boxes are copied. The innermost extent comes first, in elements of 16 bits.
struct MappedTensor {
  Buffer buffer;
  std::string name;  // of the kernel's parameter
  std::array<unsigned, 2> extents{}, box{};
};

struct BoxCopies {
  std::string arrival;             // the barrier at which they arrive; "": none may stand here
  std::vector<MappedTensor> maps;  // of the kernel
};

/// Where a call's operand in global memory lies in its tensor.
struct BoxPlace {
  std::string map, column, row;  // texts
};

/// Of operand `position` of the call. Adds its map to `copies`. Throws LowerError where no barrier awaits
/// the copy, or the operand cannot be shown to be a box of rows.
BoxPlace box_place(const TensorCall& call, size_t position, const Analyzer& ranges, Names& names,
                   ExprText& exprs, BoxCopies& copies);

}  // namespace tunesmith::cuda
