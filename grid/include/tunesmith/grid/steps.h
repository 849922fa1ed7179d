// Lowering steps for machines with levels that synchronise, such as blocks of threads,
// which their targets insert between the kernel's steps (tunesmith/lower/pipeline.h).
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
/// Instead of plan_memory: lays out memory that all share as workspace, and gives buffers owned by a level
/// a place in their scope, reusing memory of buffers that are not needed at once, within its capacity.
LoweringStep plan_scopes();

}  // namespace tunesmith::grid
