// Which buffers a kernel has as arguments, and what holds those that it declares.
#pragma once

#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {

/// The buffers in global memory that the launch accesses other than by boxes, in the order of the program,
/// then of the workspace.
std::vector<Buffer> global_buffers(const LoweredProgram& lowered, const Stmt& launch);

bool is_written(const Stmt& launch, const Buffer& buffer);

/// The operand as which the group's calls hold the buffer; null for a buffer of threads. Throws LowerError if
/// no call says how.
const TensorOperand* held_as(const Allocate& at);

/// The allocations in the statement of memory that the threads of a block share.
std::vector<const Allocate*> shared_allocations(const Stmt& stmt);

/// The shared memory of a launch, as placed by lowering.
struct SharedPlan {
  SharedPlan(const Stmt& launch, const MemoryScope& scope);

  int64_t bytes = 0, alignment;
  bool shares = false;  // two buffers overlap
};

}  // namespace tunesmith::cuda
