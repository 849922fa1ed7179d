// The passes of lowering, in the order of standard_pipeline(). Each changes `program`
// in place. The library grid/ has the passes for machines with levels that synchronise.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/analysis/storage_alignment.h"
#include "tunesmith/lower/pipeline.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What must be remembered of the blocks after they are lowered: the loops
/// that carry values of a buffer (a reduction accumulates over them, or an
/// opaque iterator keeps their order), and the requested strides and swizzles.
struct BlockFacts {
  struct LoopCarried {
    Buffer buffer;
    const Loop* loop = nullptr;
  };
  std::vector<LoopCarried> loop_carried;
  struct Aligned {
    Buffer buffer;
    StorageAlignment alignment;
  };
  std::vector<Aligned> aligned;
  std::vector<Buffer> swizzled;
  std::vector<Buffer> doubled;  // after place_buffers, in their final layout
  /// Buffers that are private to each iteration of a pipelined loop; set by place_buffers.
  struct Privatised {
    Buffer buffer;
    const Loop* loop = nullptr;
  };
  std::vector<Privatised> privatised;
  /// Pipelined loops that fetch by bulk copies, which the last
  /// iteration along the axis makes; set by join_threads.
  struct ProducerLoop {
    const Loop* loop = nullptr;
    std::string axis;
  };
  std::vector<ProducerLoop> producer_loops;
  /// Buffers with an element that several threads of a launch access and one writes; set by join_threads.
  std::vector<Buffer> ordered;
};

/// Blocks become their bodies: iteration variables replaced by their bindings, predicates by Ifs, an init by
/// an If on the first reduction iteration; where extents vary, a store is under an If for what it touches to
/// exist.
BlockFacts lower_blocks(Program& program);

/// Splits an intermediate buffer whose accesses form groups without common elements into one
/// buffer per group, so that the pieces of a partitioned loop have their own accumulators.
void split_buffers(Program& program, BlockFacts& facts);

/// Refuses loops bound to an axis that the machine does not have,
/// and unknown scopes (LowerError). Runs before the first step.
void check_execution(const Program& program, const ExecutionModel& model);

/// If the options say so, moves the statements of the root that depend only on constant inputs, and
/// whose results others read, into the preparation: what they write becomes outputs of the preparation
/// and inputs of the program. Statements keep their addresses, so the facts hold for both.
void split_prepare(LoweringState& state);

/// Row-major strides for `buffer` with this shape, with gaps where
/// an alignment requires them; empty when no alignment does.
std::vector<int64_t> aligned_strides(const Buffer& buffer, const std::vector<int64_t>& shape,
                                     const BlockFacts& facts);

/// Gives every intermediate buffer an Allocate at the innermost place that contains all its
/// accesses, keeps carried values alive, and is outside the loops that share an instance of
/// its scope; shrinks it to the box accessed there. Removes unused intermediates.
void place_buffers(Program& program, BlockFacts& facts, const ExecutionModel& model);

/// Gives a double buffer one half for even and one for odd iterations of the
/// loop that fills it; each iteration fills the other half for the next.
/// Refuses buffers that cannot be filled an iteration early (LowerError).
void double_buffers(Program& program, const BlockFacts& facts);

/// Turns guards over parameters into ranges of loops, and tests each tile once: the innermost loop around a
/// tile runs whole tiles without guards, and others with them.
void bound_tiles(Program& program);

/// Conditions that bound a loop become its range, where they guard all that the loop does: predicates of
/// blocks, and padding that a reduction would add as zeros (or as what its minimum or maximum does not heed).
/// An infinite weight, or a NaN, on padding that is skipped has no effect.
void tighten_loops(Program& program);

/// Adds a Select's condition as mask to loads under it that need the condition to stay in bounds.
void mask_loads(Program& program);

/// A guard that does not change while a reduction accumulates (the rows of a ragged tile) becomes
/// the mask of the accumulating store. Unguarded results are never written back, so the accumulators
/// can be promoted. Loads under the guard repeat those of the last iteration for which it holds.
void mask_accumulations(Program& program);

/// Gives every access a single index, simplified with the ranges of the
/// enclosing loops. Removes conditions that are always true or false.
void flatten(Program& program);

/// Replaces nests that call tensor intrinsics by the intrinsics' semantics over
/// their operands, under a loop with the name; by plain loops if the target does
/// not emit the intrinsic. Refuses operands with the wrong layout (LowerError).
void call_intrinsics(Program& program, const LowerOptions& options);

/// Replaces vectorized loops by vector expressions of at most `vector_bits`,
/// with an Unrolled loop around wider ones and a masked vector at a ragged end.
void vectorize_loops(Program& program, int64_t vector_bits);

/// Moves a condition that is invariant in a serial or
/// unrolled loop, and guards its whole body, out of the loop.
void hoist_conditions(Program& program);

/// Moves local buffers that fit into registers there, and refuses register buffers that do
/// not (LowerError). Afterwards every access to a register buffer is to one of its
/// disjoint parts: none begins before the buffer, and masked lanes may lie behind its end.
void assign_registers(Program& program, const LowerOptions& options);

/// Removes masks from stores to register buffers where all stores to an element
/// have the same mask: nothing may read an element that the mask leaves out.
void unmask_registers(Program& program);

/// Moves accumulators of reduction loops into register buffers
/// around the outermost loop in which their element does not change.
void promote_accumulators(Program& program, const LowerOptions& options);

/// Replaces a loop of one iteration by its body, unless it
/// is annotated, bound to a thread or begins at a variable.
void remove_unit_loops(Program& program);

/// The distance in bytes from one buffer to the next in a workspace or in prepared memory.
int64_t aligned_bytes(const Buffer& buffer);

/// Refuses an expansion that exceeds the target's limits, lays out the workspace and checks the stack.
void plan_memory(LoweredProgram& lowered, const LowerOptions& options);

/// Lays out the outputs of the preparation in prepared memory.
void lay_out_prepared(LoweredProgram& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
