#include <fmt/format.h>

#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

LoopId fuse(Program& program, std::span<const LoopId> ids) {
  if (ids.empty()) throw ScheduleError("fuse", "there are no loops", "", program);
  std::vector<Loop*> loops;
  std::string name;
  int64_t extent = 1;
  for (const LoopId id : ids) {
    Loop& loop = loop_at(program, id, "fuse");
    require_plain_loop(program, loop, "fuse");
    if (!loops.empty() && loops.back()->body() != &loop) {
      throw ScheduleError("fuse", "a loop is not the only child of the one before",
                          fmt::format("{} after {}", loop.var->name, loops.back()->var->name), program,
                          &loop);
    }
    if (__builtin_mul_overflow(extent, loop.const_extent(), &extent)) {
      throw ScheduleError("fuse", "the product of the extents is too large", "", program, &loop);
    }
    name += (name.empty() ? "" : "_") + loop.var->name;
    loops.push_back(&loop);
  }
  if (loops.size() == 1) return loops[0]->id;

  const Var fused(name + "_f");
  std::vector<std::pair<Var, Expr>> parts;
  int64_t stride = extent;
  for (const Loop* loop : loops) {
    stride /= loop->const_extent();
    Expr part = floordiv(fused, stride);
    if (loop != loops.front()) part = floormod(part, loop->const_extent());
    parts.emplace_back(loop->var, std::move(part));
  }
  std::unique_ptr<Loop> whole = program.make_loop(fused, extent, loops.back()->take_body());
  Loop& placed = *whole;
  replace(*loops.front(), std::move(whole));
  for (const auto& [var, part] : parts) replace_loop_var(placed, var, part, Expr());
  return placed.id;
}

KindPtr fuse_kind() { return make_loop_transformation("fuse", fuse, {"loops"}); }

LoopRV Schedule::fuse(const std::vector<LoopRV>& loops) {
  return as_handle<LoopRV>(execute(kind("fuse"), {as_arg(loops)}));
}

}  // namespace tunesmith
