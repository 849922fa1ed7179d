// Helpers of all kinds of tilings.
#pragma once

#include <vector>

#include <tunesmith/stable/schedule.h>

namespace tunesmith {

/// An elementwise consumer can replace the copy out of a cache: the block's own buffer is then the cache.
bool has_reusable_consumer(const Program& program, const Block& block);

/// `parts` loops with sampled extents that divide the loop.
std::vector<LoopRV> perfect_tiles(Schedule& schedule, LoopRV loop, int64_t parts, int64_t max_innermost);

}  // namespace tunesmith
