#include "schedule/loop_tools.h"

#include <functional>

#include <fmt/format.h>

#include "tunesmith/arith/simplify.h"
#include "tunesmith/schedule/error.h"

namespace tunesmith {
namespace {

void for_each_outer_block(Stmt& stmt, const std::function<void(Block&)>& visit) {
  if (auto* block = stmt.as<Block>()) {
    visit(*block);
    return;
  }
  for_each_child(stmt, [&](Stmt& child) { for_each_outer_block(child, visit); });
}

}  // namespace

void require_plain_loop(const Program& program, const Loop& loop, std::string_view primitive) {
  int64_t extent = 0;
  if (!is_const_int(loop.min, 0) || !as_const_int(loop.extent, &extent)) {
    throw ScheduleError(primitive, "the loop's range is not constant from 0", "", program, &loop);
  }
  if (loop.loop_kind != LoopKind::Serial) {
    throw ScheduleError(primitive, "the loop is not serial",
                        fmt::format("{} is {}", loop.var->name, loop_kind_name(loop.loop_kind)), program,
                        &loop);
  }
  if (!loop.annotations.empty()) {
    throw ScheduleError(primitive, "the loop has annotations",
                        fmt::format("unannotate '{}' first", loop.annotations.begin()->first), program,
                        &loop);
  }
}

void replace_loop_var(Stmt& stmt, const Var& var, const Expr& index, const Expr& predicate) {
  const Substitution map{{var, index}};
  for_each_outer_block(stmt, [&](Block& block) {
    for (Expr& binding : block.bindings) binding = substitute(binding, map);
    block.predicate = substitute(block.predicate, map);
    if (predicate) block.predicate = logical_and(block.predicate, predicate);
  });
}

void simplify_bindings(Stmt& stmt) {
  for_each_outer_block(stmt, [](Block& block) {
    const Analyzer analyzer = Analyzer::at(block);
    for (Expr& binding : block.bindings) binding = analyzer.simplify(binding);
    block.predicate = analyzer.simplify(block.predicate);
  });
}

}  // namespace tunesmith
