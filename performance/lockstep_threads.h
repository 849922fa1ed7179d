// Numbers the threads of a block in the order in which they form lockstep groups.
#pragma once

#include <algorithm>
#include <cstdint>
#include <map>
#include <utility>

#include "tunesmith/affine/value_at.h"
#include "tunesmith/ir/execution_model.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// The thread numbers at a statement, from the enclosing loops bound to synchronising levels: the first axis
/// of the innermost level varies fastest.
class LockstepThreads {
 public:
  LockstepThreads(const Stmt& stmt, const ExecutionModel& execution) {
    for (const Stmt* at = stmt.parent; at != nullptr; at = at->parent) {
      const auto* loop = at->as<Loop>();
      if (loop == nullptr || loop->loop_kind != LoopKind::Bound) continue;
      const std::optional<ExecutionModel::Axis> axis = execution.find_axis(loop->thread);
      if (!axis || axis->level < execution.first_synchronising()) continue;
      // Inner levels first, then by axes.
      extents_[{-static_cast<int64_t>(axis->level), axis->axis}] = {loop->var, loop->const_extent()};
    }
  }

  int64_t count() const {
    int64_t threads = 1;
    for (const auto& [order, domain] : extents_) threads *= domain.extent;
    return threads;
  }

  bool binds(const Var& var) const {
    return std::ranges::any_of(extents_, [&](const auto& axis) { return axis.second.var == var; });
  }

  /// The variable in which neighbouring threads differ; null if no loop is bound.
  Var fastest() const { return extents_.empty() ? Var() : extents_.begin()->second.var; }

  Point point_of(int64_t thread) const {
    Point point;
    for (const auto& [order, domain] : extents_) {
      point.emplace_back(domain.var, thread % domain.extent);
      thread /= domain.extent;
    }
    return point;
  }

 private:
  std::map<std::pair<int64_t, size_t>, IterDomain> extents_;
};

}  // namespace tunesmith
