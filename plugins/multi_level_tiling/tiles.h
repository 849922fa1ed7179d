// What tilings of all sorts ask about a block and do with its loops.
#pragma once

#include <vector>

#include <tunesmith/stable/schedule.h>

namespace tunesmith {

/// An elementwise consumer can take the place of the copy out of a cache: the block's own buffer is then the
/// cache.
bool has_reusable_consumer(const Program& program, const Block& block);

/// `parts` loops whose extents are sampled and divide the loop.
std::vector<LoopRV> perfect_tiles(Schedule& schedule, LoopRV loop, int64_t parts, int64_t max_innermost);

}  // namespace tunesmith
