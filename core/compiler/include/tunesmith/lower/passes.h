// The lowering passes, in the order of standard_pipeline(). Each changes `program` in place. The library
// grid/ has the passes for machines with levels that synchronise.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/analysis/storage_alignment.h"
#include "tunesmith/lower/pipeline.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Facts about blocks that later passes need after the blocks are lowered.
struct BlockFacts {
  /// A loop that carries values of a buffer: a reduction accumulates over it, or an opaque iterator keeps its
  /// order.
  struct LoopCarried {
    Buffer buffer;
    const Loop* loop = nullptr;
  };
  std::vector<LoopCarried> loop_carried;
  /// A stride requested by storage_align.
  struct Aligned {
    Buffer buffer;
    StorageAlignment alignment;
  };
  std::vector<Aligned> aligned;
  std::vector<Buffer> swizzled;  // requested by storage_swizzle
  std::vector<Buffer> doubled;   // double buffers; after place_buffers, in their final layout
  /// Buffers that are private to each iteration of a pipelined loop; set by place_buffers.
  struct Privatised {
    Buffer buffer;
    const Loop* loop = nullptr;
  };
  std::vector<Privatised> privatised;
  /// Pipelined loops whose bulk copies the last iteration along the axis issues; set by join_threads.
  struct ProducerLoop {
    const Loop* loop = nullptr;
    std::string axis;
  };
  std::vector<ProducerLoop> producer_loops;
  /// Buffers with an element that several threads of a launch access and one of them writes; set by
  /// join_threads.
  std::vector<Buffer> ordered;
};

/// Replaces blocks by their bodies: substitutes bindings for iteration variables; predicates become Ifs, an
/// init an If on the first reduction iteration; with dynamic extents, an If guards each store by the
/// existence of the elements that it accesses (ir/extents.h).
BlockFacts lower_blocks(Program& program);

/// Splits an intermediate buffer whose accesses fall into groups with disjoint elements into one buffer per
/// group, so that the pieces of a partitioned loop have separate accumulators.
void split_buffers(Program& program, BlockFacts& facts);

/// Throws LowerError for loops bound to unknown axes and for unknown scopes. Runs before the first step.
void check_execution(const Program& program, const ExecutionModel& model);

/// With LowerOptions::prepare, moves those statements of the root into the preparation that depend only on
/// constant inputs and whose results others read: the buffers that they write become outputs of the
/// preparation and inputs of the program. Statements keep their addresses, so the facts remain valid.
void split_prepare(LoweringState& state);

/// Row-major strides for `buffer` with this shape, with the gaps that an alignment requires; empty if none
/// does.
std::vector<int64_t> aligned_strides(const Buffer& buffer, const std::vector<int64_t>& shape,
                                     const BlockFacts& facts);

/// Inserts an Allocate for every intermediate buffer at the innermost place that contains all its accesses
/// and the loops that carry its values, and is outside the loops that share an instance of its scope. Shrinks
/// the buffer to the box accessed there. Removes unused intermediates.
void place_buffers(Program& program, BlockFacts& facts, const ExecutionModel& model);

/// Doubles a double buffer: even and odd iterations of the filling loop use different halves, and each
/// iteration fills the half of the next. Throws LowerError if a buffer cannot be filled an iteration early.
void double_buffers(Program& program, const BlockFacts& facts);

/// Turns guards over parameters into loop ranges. The innermost loop around a tile tests once per tile and
/// runs full tiles without guards, partial ones with them.
void bound_tiles(Program& program);

/// Turns conditions that guard the whole effect of a loop into its range: predicates of blocks, and padding
/// that is neutral in a reduction. An infinite or NaN weight multiplied with skipped padding has no effect.
void tighten_loops(Program& program);

/// Masks loads under a Select that stay in bounds only if its condition holds.
void mask_loads(Program& program);

/// Turns a guard that is invariant during a reduction (the rows of a ragged tile) into the mask of the
/// accumulating store, so that the accumulators can be promoted: results outside the guard are not written
/// back, and loads there repeat those of the last iteration inside it.
void mask_accumulations(Program& program);

/// Replaces the indices of every access by one offset, simplified by the ranges of the enclosing loops.
/// Removes conditions that are always true or false.
void flatten(Program& program);

/// Replaces tensorized nests by the intrinsics' semantics over their operands, under a loop annotated with
/// the name, or by plain loops if the target does not emit the intrinsic. Throws LowerError if an operand's
/// layout does not fit.
void call_intrinsics(Program& program, const LowerOptions& options);

/// Replaces vectorized loops by vector expressions of at most `vector_bits`,
/// with an Unrolled loop around wider ones and a masked vector at a ragged end.
void vectorize_loops(Program& program, int64_t vector_bits);

/// Moves a loop-invariant condition that guards the whole body out of a serial or unrolled loop.
void hoist_conditions(Program& program);

/// Moves local buffers into registers if they fit; throws LowerError for register buffers that do not.
/// Afterwards every access to a register buffer is to one of its disjoint slices: none begins before the
/// buffer, and masked lanes may exceed its end.
void assign_registers(Program& program, const LowerOptions& options);

/// Removes masks from stores to register buffers if all stores to an element have the same mask, since no
/// load may read an element outside it.
void unmask_registers(Program& program);

/// Moves accumulators of reduction loops into register buffers, around the outermost loop in which their
/// element is invariant.
void promote_accumulators(Program& program, const LowerOptions& options);

/// Replaces a loop of one iteration by its body, unless it is annotated, bound, or has a variable min.
void remove_unit_loops(Program& program);

/// The size of the buffer in a workspace or prepared memory, in bytes, rounded up to the alignment.
int64_t aligned_bytes(const Buffer& buffer);

/// Lays out the workspace. Throws LowerError if the expanded program or the stack exceeds the target's
/// limits.
void plan_memory(LoweredProgram& lowered, const LowerOptions& options);

/// Lays out the outputs of the preparation in prepared memory.
void lay_out_prepared(LoweredProgram& lowered);

}  // namespace tunesmith
#pragma GCC visibility pop
