// The passes of lowering, in the order of standard_pipeline(). Each changes `program` in place. Those for
// machines with levels that synchronise are in the library grid/.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/analysis/storage_alignment.h"
#include "tunesmith/lower/pipeline.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// What must be known of the blocks once they are gone: the loops across whose iterations a buffer's elements
/// live on, because a reduction accumulates over them or an opaque iterator keeps their order; the strides
/// and swizzles that were asked for.
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
  std::vector<Buffer> doubled;  // as they lie after place_buffers
  /// Buffers that are private to each iteration of a loop to be pipelined; since place_buffers.
  struct Privatised {
    Buffer buffer;
    const Loop* loop = nullptr;
  };
  std::vector<Privatised> privatised;
  /// Loops to be pipelined that fetch by bulk copies, which the last iteration along the axis makes; since
  /// join_threads.
  struct ProducerLoop {
    const Loop* loop = nullptr;
    std::string axis;
  };
  std::vector<ProducerLoop> producer_loops;
  /// Buffers of which several threads of a launch use one element, one of them to write; since join_threads.
  std::vector<Buffer> ordered;
};

/// Blocks become their bodies: iteration variables replaced by their bindings, predicates by Ifs, an init by
/// an If on the first reduction iteration; where extents vary, a store is under an If for what it touches to
/// exist.
BlockFacts lower_blocks(Program& program);

/// An intermediate buffer whose accesses fall into groups that share no element becomes a buffer for each:
/// the pieces of a partitioned loop then have accumulators of their own.
void split_buffers(Program& program, BlockFacts& facts);

/// Refuses loops bound to what is no axis of the machine, and scopes that it does not have (LowerError). Runs
/// before the first step.
void check_execution(const Program& program, const ExecutionModel& model);

/// Where the options want it, takes the statements of the root that depend on constant inputs only, and whose
/// results others read, out of the program: what they write are the outputs of the preparation and further
/// inputs of the program. Statements stay where they are in memory, so the facts hold for both.
void split_prepare(LoweringState& state);

/// Strides of `buffer` with this shape: row-major with gaps where an alignment asks for them; empty when none
/// does.
std::vector<int64_t> aligned_strides(const Buffer& buffer, const std::vector<int64_t>& shape,
                                     const BlockFacts& facts);

/// Every intermediate buffer gets an Allocate at the innermost place around all its accesses that keeps
/// carried values alive and outside of the loops whose iterations share the buffer's scope, and shrinks to
/// the box of elements touched there. Dead intermediates go.
void place_buffers(Program& program, BlockFacts& facts, const ExecutionModel& model);

/// A buffer that is to be a double one gets a half for the even and one for the odd iterations of the loop
/// that makes it anew; each iteration fills the other half for the next. Refuses what may not be filled so
/// early (LowerError).
void double_buffers(Program& program, const BlockFacts& facts);

/// Loops run as far as guards over parameters let anything in them happen, and what lies in a tile of which
/// all is there is done without asking: the innermost loop around a tile does one or the other.
void bound_tiles(Program& program);

/// Conditions that bound a loop become its range, where they guard all that the loop does: predicates of
/// blocks, and padding that a reduction would add as zeros (or as what its minimum or maximum does not heed).
/// An infinite weight, or a NaN, on padding that is skipped has no effect.
void tighten_loops(Program& program);

/// Loads under a Select that need its condition to stay inside their buffer get it as their mask.
void mask_loads(Program& program);

/// A guard that stands still while a reduction accumulates, as that of a ragged tile's rows, becomes the mask
/// of the accumulating store: what is accumulated where it does not hold is never written back, so the
/// accumulators can be promoted. Loads under it repeat those of the last iteration for which it holds.
void mask_accumulations(Program& program);

/// Every access gets one index, simplified with the ranges of the loops around it. Conditions that are always
/// true or false go.
void flatten(Program& program);

/// Nests that are to be calls of tensor intrinsics become the intrinsics' semantics over their operands,
/// under a loop with the name; where the target does not emit it, plain loops. Refuses operands that lie
/// otherwise than the intrinsic wants (LowerError).
void call_intrinsics(Program& program, const LowerOptions& options);

/// Vectorized loops become vector expressions of at most `vector_bits`, with an Unrolled loop around them
/// where they are wider and a masked vector at an odd end.
void vectorize_loops(Program& program, int64_t vector_bits);

/// A condition that stays the same in a serial or unrolled loop, and guards all that it does, moves out of
/// it.
void hoist_conditions(Program& program);

/// Local buffers that can live in registers move there; register buffers that cannot are refused
/// (LowerError). Every access to a register buffer is then to one of its parts, which do not overlap: none
/// begins before the buffer and reaches into it, and masked lanes may lie behind its last element.
void assign_registers(Program& program, const LowerOptions& options);

/// Register buffers are stored to without masks, where all stores to an element have the same one: what it
/// leaves out has no value then that anything may read.
void unmask_registers(Program& program);

/// Accumulators of reduction loops move into register buffers around the outermost loop over which they stand
/// still.
void promote_accumulators(Program& program, const LowerOptions& options);

/// A loop of one iteration becomes its body, unless it is annotated, bound to a thread or begins at a
/// variable.
void remove_unit_loops(Program& program);

/// How many bytes from one buffer to the next, in a workspace or in prepared memory.
int64_t aligned_bytes(const Buffer& buffer);

/// Refuses an expansion beyond the target's limits, lays out the workspace and checks the stack.
void plan_memory(LoweredProgram& lowered, const LowerOptions& options);

/// The outputs of the preparation get their places in prepared memory.
void lay_out_prepared(LoweredProgram& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
