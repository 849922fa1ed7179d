#include <algorithm>
#include <cmath>

#include "tunesmith/performance/grid_work.h"
#include "tunesmith/performance/occupancy.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// The approximate number of thread groups that keep a core's units busy all the time.
constexpr double kBusyGroups = 16.0;
/// The share of the shorter parts that is not hidden behind the longest.
constexpr double kNotHidden = 0.1;
/// The slowdown per missing register of a thread, relative to its registers.
constexpr double kSpilled = 4.0;

}  // namespace

double GridTime::total() const {
  const double longest = std::max({arithmetic, issue, unit, banked, cache, memory});
  const double all = arithmetic + issue + unit + banked + cache + memory;
  return launch + longest + kNotHidden * (all - longest) + barriers + latency;
}

GridTime grid_time(const GridWork& work, const DeviceModel& device) {
  const CoreLimits limits = core_limits(device);
  const auto lockstep = static_cast<double>(limits.lockstep);
  const double groups = std::ceil(work.threads / lockstep);
  const double max_registers =
      std::min(device.get("max_thread_registers"),
               std::floor(static_cast<double>(limits.registers) / (groups * lockstep)));
  const double registers = std::min(work.registers, max_registers);
  const double lacking = (work.registers - registers) / max_registers;

  GridTime time;
  time.resident_blocks = static_cast<double>(
      std::max<int64_t>(1, limits.resident_blocks(std::llround(registers), std::llround(work.threads),
                                                  std::llround(work.block_bytes))));
  const double all_cores = device.get("cores");
  const double cores = std::min(all_cores, work.blocks);
  const double slots = all_cores * time.resident_blocks;
  time.waves = std::ceil(work.blocks / slots);
  // Missing blocks of the last wave leave cores idle.
  const double full = work.blocks / (time.waves * slots);
  const double held = std::min(time.resident_blocks, std::ceil(work.blocks / all_cores)) * groups;
  const double occupied = work.blocks > all_cores ? std::max(full, 0.5) : 1.0;
  const double attended = std::min(1.0, held / kBusyGroups);
  const double busy = attended * occupied;
  const double hertz = device.get("clock_ghz") * 1e9;
  const double idle_lanes = groups * lockstep / work.threads;
  const double core_cycles = cores * hertz * busy / (1.0 + kSpilled * lacking);
  // Of work that takes `all` at the pace of the resident groups, `bulk` runs independently of them.
  const auto at_pace = [&](double all, double bulk) { return all - bulk + bulk * attended; };

  time.arithmetic = work.arithmetic * idle_lanes / (core_cycles * device.get("fma_per_cycle"));
  time.issue = work.instructions * idle_lanes / (core_cycles * device.get("issue_per_cycle"));
  time.unit = at_pace(work.unit_cycles, work.bulk_unit_cycles) / core_cycles;
  // One wavefront a cycle.
  time.banked = at_pace(work.wavefronts, work.bulk_wavefronts) / core_cycles;
  time.cache = at_pace(work.sectors, work.bulk_sectors) * device.get("sector_bytes") /
               (device.get("l2_bytes_per_second") * std::min(1.0, busy * cores / all_cores));
  time.memory = work.touched_bytes / device.get("memory_bytes_per_second");
  time.barriers = work.barriers * device.get("barrier_cycles") *
                  std::max(1.0, work.blocks / (cores * time.resident_blocks)) / hertz;
  if (work.fetches > 0.0) {
    const double busy_seconds =
        std::max({time.arithmetic, time.issue, time.unit, time.banked, time.cache, time.memory});
    // All blocks that a core holds do a step each.
    const double step = busy_seconds / (time.waves * work.fetches);
    const double others = std::max(0.0, held / groups - 1.0) / std::max(1.0, held / groups);
    const double hidden = step * (work.ahead + others);
    const double takes = device.get_or("memory_latency_cycles", 0.0) / hertz;
    time.latency = time.waves * work.fetches * std::max(0.0, takes - hidden);
  }
  time.launch = device.get("launch_seconds");
  return time;
}

double grid_seconds(const Program& lowered, const ExecutionModel& execution, const DeviceModel& device) {
  const auto machine = lockstep_machine(execution, device);
  check_invariant(machine.has_value(), "the threads of a grid run in lockstep");
  double seconds = 0.0;
  for (const GridWork& work : grid_work(lowered, *machine)) seconds += grid_time(work, device).total();
  return std::max(seconds, device.get("launch_seconds"));
}

}  // namespace tunesmith
