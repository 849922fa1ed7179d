#include "tunesmith/performance/occupancy.h"

#include <algorithm>
#include <cmath>

namespace tunesmith {
namespace {

int64_t up(int64_t value, int64_t unit) { return (value + unit - 1) / unit * unit; }

}  // namespace

int64_t CoreLimits::resident_blocks(int64_t thread_registers, int64_t threads_of_block,
                                    int64_t bytes_of_block) const {
  if (threads_of_block < 1 || threads_of_block > block_threads || bytes_of_block > block_shared_bytes)
    return 0;
  const int64_t groups = up(threads_of_block, lockstep) / lockstep;
  const int64_t group_registers = up(thread_registers * lockstep, register_unit);
  if (up(groups, parts) * group_registers > registers) return 0;
  int64_t most = std::min(threads / lockstep / groups, blocks);
  if (group_registers > 0) most = std::min(most, registers / parts / group_registers * parts / groups);
  const int64_t taken = up(bytes_of_block + reserved_bytes, shared_unit);
  return taken > 0 ? std::min(most, shared_bytes / taken) : most;
}

CoreLimits core_limits(const DeviceModel& device) {
  const auto get = [&](const char* name) { return static_cast<int64_t>(std::llround(device.get(name))); };
  CoreLimits limits;
  limits.registers = get("core_registers");
  limits.register_unit = get("register_unit");
  limits.parts = get("core_parts");
  limits.threads = get("core_threads");
  limits.blocks = get("core_blocks");
  limits.shared_bytes = get("core_shared_bytes");
  limits.reserved_bytes = get("reserved_shared_bytes");
  limits.shared_unit = get("shared_unit_bytes");
  limits.lockstep = get("warp_size");
  limits.block_threads = get("max_threads_per_block");
  limits.block_shared_bytes = get("block_shared_bytes");
  return limits;
}

}  // namespace tunesmith
