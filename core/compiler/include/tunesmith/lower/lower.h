// Lowering turns a scheduled program of blocks into plain loops,
// stores and allocations that a target can emit directly.
//
// What a target may assume of a LoweredProgram:
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

/// What lowering needs to know of the target: quantities, never a device's name.
struct LowerOptions {
  int64_t vector_bits = 128;
  int64_t vector_registers = 16;
  /// The largest total size of buffers on the stack, in bytes.
  int64_t max_stack_bytes = int64_t{512} * 1024;
  /// The largest number of statements after expanding unrolled loops; larger programs are refused.
  int64_t max_expanded_stores = 16384;
  /// Move work on constant inputs to LoweredProgram::prepare. Only for callers that run both programs.
  bool prepare = false;
  /// Take programs with parameters. Only for who gives their values with each call.
  bool parameters = false;
  /// Those that the target emits; extensions add to them. Calls of others become plain loops.
  std::vector<TensorIntrinsicPtr> intrinsics;
  /// Bound loops and scopes are checked against this: Target::execution(), which the kernel sets here.
  ExecutionModel execution = host_execution();
};

/// The offset of a buffer in the workspace or in prepared memory, a multiple of 64 bytes.
struct WorkspaceSlot {
  Buffer buffer;
  int64_t offset = 0;
};

struct LoweredProgram {
  /// Its inputs are those of the original program, followed by the buffers of `prepared`.
  Program program;
  std::vector<WorkspaceSlot> workspace;
  int64_t workspace_bytes = 0;
  /// The buffers that `prepare` writes and `program` reads, in one piece of memory.
  std::vector<WorkspaceSlot> prepared;
  int64_t prepared_bytes = 0;
  /// Runs once before any call of `program`, and again whenever a constant
  /// input has changed. It reads the constant inputs that it needs and writes
  /// the buffers of `prepared`. Null when there is nothing to prepare.
  std::unique_ptr<LoweredProgram> prepare;
};

/// The target cannot take the candidate: a register buffer cannot
/// stay in registers, or the stack or the expansion is too large.
class LowerError : public Error {
 public:
  /// `reason` is a constant sentence, so that refusals can be counted.
  LowerError(std::string_view pass, std::string_view reason, const std::string& detail);
  ~LowerError() override;
  const std::string& reason() const { return reason_; }

 private:
  std::string reason_;
};

/// Runs the standard list of steps (pipeline.h). Throws LowerError. Thread-safe; `program` is not changed.
LoweredProgram lower(const Program& program, const LowerOptions& options);

/// A hash of everything that a target is given, the same on every machine: the program, the
/// layout of its workspace and prepared memory, and its preparation. Names do not count. It
/// identifies a candidate: two traces with equal hashes are one program, which is measured once.
uint64_t lowered_hash(const LoweredProgram& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
