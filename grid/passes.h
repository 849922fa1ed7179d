// Lowering passes for machines with levels that synchronise. Each changes `program` in place.
#pragma once

#include "tunesmith/lower/passes.h"

namespace tunesmith {

/// Makes each statement of the root one launch: the loops bound to levels that do not synchronise, then one
/// loop per axis of the levels that do, around everything else. Consecutive loops that were bound to these
/// axes become pieces that the same threads run, with conditions that exclude threads from a piece, and a
/// Barrier between two pieces if one may write elements that the other accesses.
///
/// Each instance of a level's memory must be used by one iteration of the level only, and shared elements
/// must not be written twice. Throws LowerError if that cannot be proved, or if not all threads reach a
/// barrier. Moves a temporary without explicit scope that only one thread uses to a thread's scope.
///
/// Calls of intrinsics by a level's groups get the annotation kTogetherAlong: all members of a group reach
/// the call, which is executed once. Only such calls use memory of a level with groups.
void join_threads(Program& program, BlockFacts& facts, const LowerOptions& options);

/// Pipelines loops with the annotation kSoftwarePipeline in a joined program. The leading statements of the
/// body that only fill shared buffers, completely in each iteration, run n - 1 iterations ahead, where n is
/// the smaller of the annotation's value and the number of iterations: the first n - 1 before the loop, the
/// others in the loop after one barrier and before the rest of the body. The buffers get n versions. If their
/// scope supports asynchronous copies, the stores of each iteration form a group, and before the barrier each
/// thread waits for its own group of this iteration. Throws LowerError if the statements cannot run ahead. A
/// loop with bulk copies becomes a Handover instead: the first thread of the axis's last iteration fetches,
/// and the others consume.
void pipeline_loops(Program& program, const BlockFacts& facts, const LowerOptions& options);

/// Compacts allocated buffers by periodic gaps that no access uses: a thread's parts of a tile may be far
/// apart. Buffers with strides or a swizzle do not change.
void close_gaps(Program& program);

/// Replaces plan_memory on machines whose scopes belong to levels: buffers with a single instance become
/// workspace; the others are checked against the capacities of their scopes in each launch (LowerError).
/// Buffers in scopes that threads share get offsets (Allocate::offset); two may overlap if a barrier
/// separates the last use of one from the first use of the other. A barrier is added if that saves enough
/// memory.
void plan_scopes(LoweredProgram& lowered, const LowerOptions& options);

}  // namespace tunesmith
