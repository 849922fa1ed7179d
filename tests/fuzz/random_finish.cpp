#include <vector>

#include "random_scheduler.h"

namespace tunesmith::fuzz {

void RandomScheduler::finish() {
  const auto attempt = [&](auto call) {
    try {
      call();
    } catch (const ScheduleError&) {
      return;
    }
  };
  // Handles first: a call may put other objects in the blocks' places.
  std::vector<BlockRV> blocks;
  for (const Block* block : schedule_.program().blocks()) blocks.push_back(handle_of(*block));
  for (const BlockRV block : blocks) {
    if (chance(2)) attempt([&] { schedule_.set_scope(block, 0, kScopeLocal); });
  }
  for (const BlockRV block : blocks) {
    const std::vector<LoopRV> loops = schedule_.get_loops(block);
    if (loops.empty() || chance(3)) continue;
    if (chance(4)) {
      attempt([&] { schedule_.unroll(loops.back()); });
    } else {
      attempt([&] { schedule_.vectorize(loops.back()); });
    }
    if (loops.size() > 1 && chance(2)) attempt([&] { schedule_.unroll(loops[loops.size() - 2]); });
  }
}

}  // namespace tunesmith::fuzz
