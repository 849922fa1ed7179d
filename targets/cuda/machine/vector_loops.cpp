#include "machine/vector_loops.h"

#include <algorithm>
#include <numeric>

#include "machine/execution.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith::cuda {
namespace {

bool is_vectorized(const Loop& loop) { return loop.loop_kind == LoopKind::Vectorized; }

/// May the loop's iterations be lanes? They store, each to an element of its own.
bool stores_lanes(const Stmt& stmt, const Var& lane) {
  if (const auto* store = stmt.as<Store>()) return uses_var(store->indices[0], lane);
  const auto* branch = stmt.as<If>();
  if (stmt.kind != StmtKind::Seq && (branch == nullptr || branch->else_case() != nullptr)) return false;
  bool all = true;
  visit_children(stmt, [&](const Stmt& child) { all = all && stores_lanes(child, lane); });
  return all;
}

/// Elements of the widest type per access, of those in memory if there are any.
int64_t max_lanes(const Stmt& body) {
  int64_t widest = 0;
  int64_t held = 1;
  walk_accesses(body, [&](const Stmt&, const AccessSite& access) {
    int64_t& bytes = in_registers(access.buffer) ? held : widest;
    bytes = std::max<int64_t>(bytes, access.buffer->dtype.bytes());
  });
  return std::max<int64_t>(1, kAccessBytes / (widest > 0 ? widest : held));
}

}  // namespace

void write_out_lanes(Program& program) {
  for (Loop* loop : collect<Loop>(program.root())) {
    const bool around_threads =
        is_vectorized(*loop) && find_first<Loop>(*loop->body(), [](const Loop& inner) {
                                  return inner.loop_kind == LoopKind::Bound;
                                }) != nullptr;
    if (around_threads || loop->loop_kind == LoopKind::Parallel) loop->loop_kind = LoopKind::Serial;
  }
}

void cut_vectors(Program& program) {
  for (Loop* loop : collect<Loop>(program.root(), is_vectorized)) {
    const bool constant = is_const_int(loop->min, 0) && loop->extent.is(ExprKind::IntImm);
    const int64_t extent = constant ? loop->const_extent() : 1;
    const int64_t width = std::gcd(extent, max_lanes(*loop->body()));
    if (width == 1 || !stores_lanes(*loop->body(), loop->var)) {
      loop->loop_kind = constant ? LoopKind::Unrolled : LoopKind::Serial;
    } else if (width < extent) {
      const Var lane(loop->var->name);
      StmtPtr body = loop->take_body();
      substitute_in(*body, {{loop->var, loop->var * width + lane}});
      auto vector = program.make_loop(lane, width, std::move(body));
      vector->loop_kind = LoopKind::Vectorized;
      loop->set_body(std::move(vector));
      loop->extent = extent / width;
      loop->loop_kind = LoopKind::Unrolled;
    }
  }
}

}  // namespace tunesmith::cuda
