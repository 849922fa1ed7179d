#include <fmt/format.h>

#include "analysis/concurrency.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

void bind(Program& program, LoopId id, std::string_view thread_axis) {
  Loop& loop = loop_at(program, id, "bind");
  if (thread_axis.empty()) throw ScheduleError("bind", "the thread axis has no name", "", program, &loop);
  const size_t dot = thread_axis.find('.');
  if (dot == 0 || dot == std::string_view::npos || dot + 1 == thread_axis.size()) {
    throw ScheduleError("bind", "a thread axis is named <level>.<axis>", std::string(thread_axis), program,
                        &loop);
  }
  const auto require_other_axis = [&](const Stmt& stmt) {
    const auto* other = stmt.as<Loop>();
    if (other != nullptr && other != &loop && other->loop_kind == LoopKind::Bound &&
        other->thread == thread_axis) {
      throw ScheduleError("bind", "a loop inside or around is bound to the same thread axis",
                          fmt::format("{} to {}", other->var->name, thread_axis), program, other);
    }
  };
  for (const Stmt* above = loop.parent; above != nullptr; above = above->parent) require_other_axis(*above);
  walk(loop, require_other_axis);
  set_loop_kind(program, loop, LoopKind::Bound, "bind");
  loop.thread = thread_axis;
}

KindPtr bind_kind() { return make_loop_transformation("bind", tunesmith::bind, {"loop", "thread_axis"}); }

void Schedule::bind(LoopRV loop, std::string_view thread_axis) {
  execute(kind("bind"), {loop, std::string(thread_axis)});
}

}  // namespace tunesmith
