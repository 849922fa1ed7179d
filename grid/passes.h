// The passes of lowering for machines with levels that synchronise. Each changes `program` in place.
#pragma once

#include "tunesmith/lower/passes.h"

namespace tunesmith {

/// For machines with levels that synchronise. Each statement of the root becomes one
/// launch: the loops bound to levels that do not synchronise, then one loop per axis of
/// those that do, around everything else. Consecutive loops that were bound to these
/// become pieces that the same threads run, with conditions for threads that a piece does
/// not need, and a Barrier between two pieces if one may write what the other accesses.
///
/// Memory of a level must be used by one of its iterations only, and shared elements must not be written
/// twice; what cannot be proved is refused, as are barriers that not all threads reach (LowerError). A
/// temporary without explicit scope that only one thread uses is moved to a thread's scope.
///
/// Calls of intrinsics by a level's groups get the annotation kTogetherAlong: all members of a group
/// reach the call, which happens once. Memory of a level with groups is used by such calls only.
void join_threads(Program& program, BlockFacts& facts, const LowerOptions& options);

/// For loops with the annotation kSoftwarePipeline in a joined program. Statements at the start of
/// the body that only fill shared buffers, anew in each iteration, run n - 1 iterations ahead,
/// where n is the annotation's value or the number of iterations: the first n - 1 before the loop,
/// and the others in the loop behind one barrier, before the rest of the body. These buffers get n
/// versions. If their scope can be filled asynchronously, each iteration's stores form a group,
/// and before the barrier a thread waits for its own group that the iteration needs. Refuses what
/// cannot run ahead (LowerError). A loop that fetches by bulk copies becomes a Handover instead:
/// the first thread of the axis's last iteration fetches, and the others do the rest.
void pipeline_loops(Program& program, const BlockFacts& facts, const LowerOptions& options);

/// If all accesses of an allocated buffer skip elements that no access
/// uses, makes the used ones contiguous: a thread's parts of a tile
/// may be far apart. Buffers with strides or a swizzle do not change.
void close_gaps(Program& program);

/// Replaces plan_memory on machines whose scopes belong to levels: buffers with a single instance become
/// workspace, the others are checked against the capacities of their scopes in each launch. Buffers in
/// scopes that threads share get offsets (Allocate::offset); two may overlap if the last use of one precedes
/// the first use of the other with a barrier in between, which is added where that saves enough memory.
void plan_scopes(LoweredProgram& lowered, const LowerOptions& options);

}  // namespace tunesmith
