#include "twins/corresponding_loops.h"

#include <algorithm>
#include <optional>

#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {
namespace {

bool is_of_a_launch(const Loop& loop, const ExecutionModel& execution) {
  const auto axis = execution.find_axis(loop.thread);
  return axis && axis->level < execution.first_synchronising();
}

std::optional<int64_t> extent_of(const Loop& loop) {
  const auto* extent = loop.extent.as<IntImm>();
  return extent == nullptr ? std::nullopt : std::optional(extent->value);
}

int64_t min_iterations(const Loop& loop) {
  const auto stages = loop.annotations.find(kSoftwarePipeline);
  if (stages == loop.annotations.end()) return kMinSerial;
  return std::max(kMinSerial, std::get<int64_t>(stages->second) + 1);
}

}  // namespace

bool loops_correspond(const Program& full, const Program& smaller, const ExecutionModel& execution) {
  const auto theirs = collect<Loop>(full.root());
  const auto ours = collect<Loop>(smaller.root());
  return std::ranges::equal(theirs, ours, [&](const Loop* a, const Loop* b) {
    if (a->loop_kind != b->loop_kind || a->thread != b->thread) return false;
    const std::optional<int64_t> from = extent_of(*a);
    const std::optional<int64_t> to = extent_of(*b);
    if (!from || !to) return from.has_value() == to.has_value();
    if (*from == *to) return true;
    if (*to > *from) return false;
    if (a->loop_kind == LoopKind::Bound && is_of_a_launch(*a, execution))
      return *to >= std::min(*from, kMinBound);
    const bool may_shrink = a->loop_kind == LoopKind::Serial || a->loop_kind == LoopKind::Parallel;
    return may_shrink && *to >= std::min(*from, min_iterations(*a));
  });
}

}  // namespace tunesmith
