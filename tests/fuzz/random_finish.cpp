#include <algorithm>
#include <vector>

#include <tunesmith/analysis/accesses.h>

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
  // Takes handles first, since a call may replace the block objects.
  const auto handles = [&] {
    std::vector<BlockRV> blocks;
    for (const Block* block : schedule_.program().blocks()) blocks.push_back(handle_of(*block));
    return blocks;
  };
  const auto to_lanes = [&](BlockRV block) {
    const std::vector<LoopRV> loops = schedule_.get_loops(block);
    if (loops.empty()) return;
    if (chance(4)) {
      attempt([&] { schedule_.unroll(loops.back()); });
    } else {
      attempt([&] { schedule_.vectorize(loops.back()); });
    }
    if (loops.size() > 1 && chance(2)) attempt([&] { schedule_.unroll(loops[loops.size() - 2]); });
  };
  for (const BlockRV block : handles()) {
    if (!chance(2)) continue;
    const bool read = !chance(3);
    attempt([&] {
      const BlockRV copy = read ? schedule_.cache_read(block, static_cast<int>(random_.below(2)), kScopeLocal)
                                : schedule_.cache_write(block, 0, kScopeLocal);
      const std::vector<LoopRV> loops = schedule_.get_loops(block);
      if (!loops.empty()) {
        attempt([&] {
          if (read) {
            schedule_.compute_at(copy, pick(loops));
          } else {
            schedule_.reverse_compute_at(copy, pick(loops));
          }
        });
      }
      to_lanes(copy);
      to_lanes(block);
    });
  }
  const std::vector<BlockRV> blocks = handles();
  for (const BlockRV block : blocks) {
    if (chance(2)) attempt([&] { schedule_.set_scope(block, 0, kScopeLocal); });
  }
  for (const BlockRV block : blocks) {
    if (!chance(3)) to_lanes(block);
  }
}

/// A read, and an existing copy of its buffer that was made for another block.
std::vector<Arg> RandomScheduler::read_and_copy() {
  for (int attempt = 0; attempt < 8; ++attempt) {
    const Block& first = *random_block();
    const std::vector<Access> reads = read_accesses(first);
    if (reads.empty()) continue;
    const size_t copied = random_.below(reads.size());
    for (const Block* other : schedule_.program().blocks()) {
      const std::vector<Access> others = read_accesses(*other);
      const auto read = std::ranges::find(others, reads[copied].buffer, &Access::buffer);
      if (other == &first || read == others.end()) continue;
      const BlockRV reader = handle_of(*other);
      try {
        const BlockRV copy =
            schedule_.cache_read(handle_of(first), static_cast<int64_t>(copied), kScopeGlobal);
        return {reader, static_cast<int64_t>(read - others.begin()), copy};
      } catch (const ScheduleError&) {
        break;
      }
    }
  }
  return {block_arg(), int64_t{0}, block_arg()};
}

}  // namespace tunesmith::fuzz
