#include "tunesmith/trace/in_threads.h"

#include <optional>

#include "tunesmith/analysis/blocks.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

constexpr int64_t kThreads = 256;  // per block

/// The loops around the block that are its first spatial iterators, outermost first.
std::vector<LoopRV> leading_spatial(Schedule& schedule, BlockRV block) {
  std::vector<LoopRV> leading;
  for (const LoopRV& rv : schedule.get_loops(block)) {
    const Loop& loop = schedule.loop(rv);
    const LoopUse use = use_of(loop, schedule.block(block));
    if (use.reduction || use.opaque || loop.loop_kind != LoopKind::Serial) break;
    leading.push_back(rv);
    if (loop.body()->kind != StmtKind::Loop) break;
  }
  return leading;
}

/// Moves a reduction's init before its loops, so that the accumulator can stay in registers.
void begin_before_loops(Schedule& schedule, BlockRV block) {
  if (schedule.block(block).init() == nullptr) return;
  for (const LoopRV& loop : schedule.get_loops(block)) {
    if (!use_of(schedule.loop(loop), schedule.block(block)).reduction) continue;
    schedule.decompose_reduction(block, loop);
    return;
  }
}

/// Applies the change; leaves the schedule as it is if the change is refused.
template <typename Change>
void where_legal(Schedule& schedule, const Change& change) {
  Schedule tried = schedule.clone();
  try {
    change(tried);
  } catch (const ScheduleError&) {
    return;
  }
  schedule = std::move(tried);
}

/// Binds a nest; a refused nest runs on a single thread.
void bind_nest(Schedule& schedule, const std::string& name, const std::string& blocks,
               const std::string& threads) {
  where_legal(schedule, [&](Schedule& tried) {
    const std::vector<LoopRV> loops = leading_spatial(tried, tried.get_block(name));
    if (loops.empty()) return;
    const LoopRV all = loops.size() > 1 ? tried.fuse(loops) : loops.front();
    const std::vector<LoopRV> parts = tried.split(all, {std::nullopt, kThreads});
    tried.bind(parts[0], blocks);
    tried.bind(parts[1], threads);
  });
  where_legal(schedule, [&](Schedule& tried) { begin_before_loops(tried, tried.get_block(name)); });
}

}  // namespace

std::optional<Schedule> in_threads(const Program& program, const ExecutionModel& machine) {
  const size_t first = machine.first_synchronising();
  if (first == 0 || first == machine.levels.size()) return std::nullopt;
  if (machine.levels[first - 1].axes.empty() || machine.levels.back().axes.empty()) return std::nullopt;
  Schedule schedule(program);
  for (const StmtPtr& nest : program.root().children()) {
    const Block* block = find_first<Block>(*nest);
    if (block == nullptr || nest->kind != StmtKind::Loop) continue;
    bind_nest(schedule, block->name, machine.axis_name({first - 1, 0}),
              machine.axis_name({machine.levels.size() - 1, 0}));
  }
  return schedule;
}

}  // namespace tunesmith
