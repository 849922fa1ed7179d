#include "tiles.h"

namespace tunesmith {

bool has_reusable_consumer(const Program& program, const Block& block) {
  const std::vector<Pointer<Block>> consumers = consumers_of(program, block);
  return consumers.size() == 1 && is_elementwise(*consumers.front()) && !writes_output(program, block) &&
         writes_of(block).front().buffer->shape == writes_of(*consumers.front()).front().buffer->shape;
}

std::vector<LoopRV> perfect_tiles(Schedule& schedule, LoopRV loop, int64_t parts, int64_t max_innermost) {
  if (parts == 1) return {loop};
  const std::vector<IntRV> factors = schedule.sample_perfect_tile(loop, parts, max_innermost);
  return schedule.split(loop, {factors.begin(), factors.end()});
}

}  // namespace tunesmith
