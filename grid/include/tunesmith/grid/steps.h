// Lowering for machines with levels that synchronise, such as blocks of threads: the steps that their targets
// put between those of the kernel (tunesmith/lower/pipeline.h).
#pragma once

#include "tunesmith/lower/pipeline.h"

namespace tunesmith::grid {

/// After split_buffers and before place_buffers: loops bound to such levels become one loop for each axis
/// around all that stands between, with barriers where threads must wait; each statement of the root is one
/// launch.
LoweringStep join_threads();
/// After place_buffers: in loops that are to be pipelined, what fills buffers that threads share runs
/// iterations ahead, asynchronously where the scope can be filled so.
LoweringStep pipeline_loops();
/// After place_buffers: what a thread has of a tile whose parts lie far apart moves together.
LoweringStep close_gaps();
/// Instead of plan_memory: what all share is laid out as workspace; what a level owns gets a place in its
/// scope, the same for buffers that are not needed at once, within its capacity.
LoweringStep plan_scopes();

}  // namespace tunesmith::grid
