// Lowering: from a scheduled program of blocks to plain loops, stores and allocations that a target can emit
// as they stand.
//
// What a target may rely on in a LoweredProgram:
//  - statements are Seq, Loop, Store, If and Allocate, and Barrier where the target's list has join_threads,
//    and AsyncGroup and AsyncWait where it has pipeline_loops and a scope says how it is filled so; no Block
//    is left;
//  - every access has exactly one index: the element's offset in the buffer (strides applied), canonical
//    and simplified; where the buffer has a swizzle, the element lies at Swizzle::place_of() of it;
//  - no Loop is Vectorized: vector operations are Ramp / Broadcast expressions of at most vector_bits (an
//    odd tail is a masked vector), wider loops are an Unrolled loop around them;
//  - Unrolled loops have constant bounds and are to be emitted once for each iteration with the variable a
//    constant: the lowered tree stays small;
//  - loads that must not happen carry a mask; a Select never guards memory;
//  - accesses to a `register` buffer have indices that are constants once the Unrolled loops inside its
//    Allocate are expanded, in disjoint or identical slices, so that it becomes SSA values;
//  - a Loop with the annotation tensor_intrinsic is a call of an intrinsic of LowerOptions::intrinsics
//    (tensor_call() gives its operands); emitted as the loops that it is, it computes the same;
//  - a buffer of an Allocate is in registers (scope `register`), in the workspace (when
//    LoweredProgram::workspace lists it; then it is outside every parallel loop) or else on the stack,
//    within max_stack_bytes;
//  - with LowerOptions::prepare, what the root's statements make of constant inputs alone (a copy of the
//    weights in the order of their use) is LoweredProgram::prepare, a program of its own, run once and not
//    at every call.
// The result is a Program, so the interpreter runs it and the printer prints it.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "tunesmith/intrinsics/tensor_intrinsic.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/support/error.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What lowering must know of the target: quantities, never a device's name.
struct LowerOptions {
  int64_t vector_bits = 128;
  int64_t vector_registers = 16;
  /// Largest buffer on the stack, and all of them together, in bytes.
  int64_t max_stack_bytes = int64_t{512} * 1024;
  /// Largest number of statements after expanding unrolled loops; a program beyond it is refused.
  int64_t max_expanded_stores = 16384;
  /// Take work on constant inputs out of the program (LoweredProgram::prepare). Only for who runs both.
  bool prepare = false;
  /// Take programs with parameters. Only for who gives their values with each call.
  bool parameters = false;
  /// Those that the target emits; extensions add to them. Calls of others become plain loops.
  std::vector<TensorIntrinsicPtr> intrinsics;
  /// What bound loops and scopes are checked against: Target::execution(), which the kernel puts here.
  ExecutionModel execution = host_execution();
};

/// Where a buffer lies in the workspace, or in prepared memory: a multiple of 64 bytes.
struct WorkspaceSlot {
  Buffer buffer;
  int64_t offset = 0;
};

struct LoweredProgram {
  /// Its inputs are those of the program that was lowered, then the buffers of `prepared`.
  Program program;
  std::vector<WorkspaceSlot> workspace;
  int64_t workspace_bytes = 0;
  /// What `prepare` makes and `program` reads, in one piece of memory.
  std::vector<WorkspaceSlot> prepared;
  int64_t prepared_bytes = 0;
  /// Run once before any call of `program`, and again whenever a constant input has changed: from the
  /// constant inputs that it needs to the buffers of `prepared`, its outputs. Null when there is nothing to
  /// prepare.
  std::unique_ptr<LoweredProgram> prepare;
};

/// A candidate that the target cannot take: a register buffer that cannot stay in registers, a stack too big,
/// an expansion too long.
class LowerError : public Error {
 public:
  /// `reason` is a constant sentence, for counting.
  LowerError(std::string_view pass, std::string_view reason, const std::string& detail);
  ~LowerError() override;
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// By the standard list of steps (pipeline.h). Throws LowerError. Thread-safe; `program` is not changed.
LoweredProgram lower(const Program& program, const LowerOptions& options);

/// All that a target is given, as one number, the same on every machine: the program, the layout of its
/// workspace and of its prepared memory, its preparation. No name counts. It is what a candidate is: two
/// traces with one hash are one program, which is measured once.
uint64_t lowered_hash(const LoweredProgram& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
