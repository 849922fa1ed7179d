// The passes of lowering for machines with levels that synchronise. Each changes `program` in place.
#pragma once

#include "tunesmith/lower/passes.h"

namespace tunesmith {

/// For machines with levels that synchronise. Each statement of the root becomes one launch: around it the
/// loops bound to the levels that do not synchronise, then one loop for each axis of those that do, around
/// all the rest. Loops that were bound to these, one after the other, are now pieces that the same threads
/// run, those that a piece does not need left out by a condition, and a Barrier stands between two pieces
/// where one may write what the other touches.
///
/// What a level owns must be used by one of its iterations alone, and what several share must not be written
/// twice: what cannot be shown is refused, as are barriers that not all threads would reach (LowerError). A
/// temporary without a scope of its own that one thread alone uses goes to the scope of a thread.
///
/// A call of an intrinsic that a level's groups make gets the annotation kTogetherAlong: all members of a
/// group come to it, and it happens once. What a level with groups owns is used by such calls alone.
void join_threads(Program& program, BlockFacts& facts, const LowerOptions& options);

/// Loops with the annotation kSoftwarePipeline, of a joined program. Statements at the start of the body that
/// only fill shared buffers, which each iteration makes anew, run n - 1 iterations ahead, n being the
/// annotation's value or the number of iterations: before the loop for the first n - 1, and in the loop
/// behind one barrier and before the rest. These buffers get n versions. Where their scope can be filled
/// asynchronously, each iteration's stores are a group, and before the barrier a thread waits for its own
/// that the iteration needs. Refuses what cannot run ahead (LowerError). A loop that fetches by bulk
/// copies is not spread over iterations: its body becomes a Handover, from the first thread of the axis's
/// last iteration, which fetches, to the other ones, which do the rest.
void pipeline_loops(Program& program, const BlockFacts& facts, const LowerOptions& options);

/// Where all accesses of an allocated buffer step over elements that none touches, those that are touched
/// move together: what a thread has of a tile whose parts lie far apart. Buffers with strides or a swizzle
/// stay.
void close_gaps(Program& program);

/// plan_memory for machines whose scopes belong to levels: what there is one of becomes workspace, the rest
/// is compared with the capacities of its scopes, in each launch. Buffers of a scope that threads share get
/// places in it (Allocate::offset); two share bytes where one is used for the last time before the other is
/// for the first, and a barrier stands between, or is put there where that saves enough.
void plan_scopes(LoweredProgram& lowered, const LowerOptions& options);

}  // namespace tunesmith
