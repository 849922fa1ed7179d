// Lowering steps for machines with levels that synchronise, such as blocks of threads. Their targets insert
// them between the kernel's steps (tunesmith/lower/pipeline.h).
#pragma once

#include "tunesmith/lower/pipeline.h"

namespace tunesmith::grid {

/// After split_buffers and before place_buffers: loops bound to such levels
/// become one loop per axis around everything in between, with barriers
/// where threads must wait; each statement of the root is one launch.
LoweringStep join_threads();
/// After place_buffers: in pipelined loops, the statements that fill shared
/// buffers run iterations ahead, asynchronously if the scope supports it.
LoweringStep pipeline_loops();
/// After place_buffers: makes a thread's parts of a tile contiguous.
LoweringStep close_gaps();
/// Instead of plan_memory: lays out memory shared by all threads as workspace, and places buffers owned by a
/// level in their scope, within its capacity; buffers with disjoint lifetimes share memory.
LoweringStep plan_scopes();

}  // namespace tunesmith::grid
