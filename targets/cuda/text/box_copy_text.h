// Bulk copies: one thread requests a box of a tensor in global memory, which arrives at a
// barrier in shared memory. The tensor is a kernel parameter: a map that the host encodes.
#pragma once

#include <string>
#include <vector>

#include "machine/boxed_tensor.h"
#include "text/expr_text.h"
#include "tunesmith/intrinsics/tensor_intrinsic.h"

namespace tunesmith::cuda {

/// A buffer from which boxes are copied.
struct MappedTensor {
  Buffer buffer;
  std::string name;  // of the kernel parameter
  BoxedTensor tensor;
};

struct BoxCopies {
  std::string arrival;             // the barrier at which copies arrive; "": copies are not allowed here
  std::vector<MappedTensor> maps;  // of the kernel
};

/// Position of a call's operand in its tensor in global memory.
struct BoxPlace {
  std::string map;    // its name
  std::string load;   // the function that copies from a map of so many dimensions
  std::string place;  // of the first element, the innermost index first, as arguments
};

/// For operand `position` of the call. Adds its map to `copies`. Throws LowerError if no barrier waits for
/// the copy, or the operand is not provably a box: of rows, or of the tensor itself where it may reach
/// outside.
BoxPlace box_place(const TensorCall& call, size_t position, const Analyzer& ranges, Names& names,
                   ExprText& exprs, BoxCopies& copies);

}  // namespace tunesmith::cuda
