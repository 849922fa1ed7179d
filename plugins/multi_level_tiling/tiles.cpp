#include "tiles.h"

#include <tunesmith/tiling/sampled_tiles.h>

namespace tunesmith {

bool has_reusable_consumer(const Program& program, const Block& block) {
  const std::vector<Pointer<Block>> consumers = consumers_of(program, block);
  return consumers.size() == 1 && is_elementwise(*consumers.front()) && !writes_output(program, block) &&
         writes_of(block).front().buffer->shape == writes_of(*consumers.front()).front().buffer->shape;
}

std::vector<LoopRV> perfect_tiles(Schedule& schedule, LoopRV loop, int64_t parts, int64_t max_innermost) {
  if (parts == 1) return {loop};
  return sample_tiles(schedule, loop, parts, max_innermost).loops;
}

}  // namespace tunesmith
