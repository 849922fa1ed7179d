// Lowers a scheduled program of blocks to plain loops, stores and allocations that a target can emit
// directly.
//
// Guarantees of a LoweredProgram:
//  - Its statements are Seq, Loop, Store, If and Allocate; Barrier if the target's pipeline has join_threads;
//    AsyncGroup, AsyncWait and Handover if it has pipeline_loops. There is no Block.
//  - Every access has one index, canonical and simplified: the element's offset in the buffer, by its
//    strides. If the buffer has a swizzle, the element lies at Swizzle::place_of(offset).
//  - No Loop is Vectorized: vector operations are Ramp / Broadcast expressions of at most vector_bits (a
//    masked vector at a ragged end), with an Unrolled loop around them for wider loops.
//  - Unrolled loops have constant bounds. The target emits their body once for each iteration, with the
//    variable as a constant; the lowered tree stays small.
//  - Loads that must not always happen have a mask; a Select never guards memory.
//  - Indices of accesses to a `register` buffer are constant after expanding the Unrolled loops inside its
//    Allocate, and its slices are disjoint or identical, so that the buffer becomes SSA values.
//  - A Loop with the annotation tensor_intrinsic calls an intrinsic of LowerOptions::intrinsics (operands:
//    tensor_call()). Emitting it as plain loops gives the same result.
//  - An allocated buffer is in registers (scope `register`), in the workspace (if
//    LoweredProgram::workspace lists it; its Allocate is then outside every parallel loop), or else on the
//    stack, within max_stack_bytes.
//  - With LowerOptions::prepare, statements of the root that depend only on constant inputs (such as packing
//    weights) are in LoweredProgram::prepare, a separate program that runs once and not at every call.
// The result is a Program: the interpreter runs it and the printer prints it.
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

/// The quantities of the target that lowering uses; never a device's name.
struct LowerOptions {
  int64_t vector_bits = 128;
  int64_t vector_registers = 16;
  /// The maximum total size of buffers on the stack, in bytes.
  int64_t max_stack_bytes = int64_t{512} * 1024;
  /// The maximum number of stores after expanding unrolled loops; larger programs are refused.
  int64_t max_expanded_stores = 16384;
  /// Move work on constant inputs to LoweredProgram::prepare. Only for callers that run both programs.
  bool prepare = false;
  /// Accept programs with parameters. Only for callers that pass their values with each call.
  bool parameters = false;
  /// Intrinsics that the target emits; extensions add to them. Calls of others become plain loops.
  std::vector<TensorIntrinsicPtr> intrinsics;
  /// Target::execution(), set by the kernel: bound loops and scopes are checked against it.
  ExecutionModel execution = host_execution();
};

/// The offset of a buffer in the workspace or in prepared memory, a multiple of 64 bytes.
struct WorkspaceSlot {
  Buffer buffer;
  int64_t offset = 0;
};

struct LoweredProgram {
  /// Its inputs are those of the original program, followed by the `prepared` buffers.
  Program program;
  std::vector<WorkspaceSlot> workspace;
  int64_t workspace_bytes = 0;
  /// The buffers that `prepare` writes and `program` reads, laid out in one allocation.
  std::vector<WorkspaceSlot> prepared;
  int64_t prepared_bytes = 0;
  /// Runs before the first call of `program`, and again whenever a constant input has changed. Reads constant
  /// inputs and writes the `prepared` buffers. Null if there is nothing to prepare.
  std::unique_ptr<LoweredProgram> prepare;
};

/// The target cannot run the candidate: for example, a register buffer cannot stay in registers, or the stack
/// or the expanded program is too large.
class LowerError : public Error {
 public:
  /// `reason` is a constant sentence, so that refusals can be counted.
  LowerError(std::string_view pass, std::string_view reason, const std::string& detail);
  ~LowerError() override;
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// Runs standard_pipeline() (pipeline.h). Throws LowerError. Thread-safe; does not change `program`.
LoweredProgram lower(const Program& program, const LowerOptions& options);

/// A hash of everything that a target receives, equal on every machine: the program, the layouts of workspace
/// and prepared memory, and the preparation. Ignores names. It identifies a candidate: traces with equal
/// hashes give one program, which is measured once.
uint64_t lowered_hash(const LoweredProgram& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
