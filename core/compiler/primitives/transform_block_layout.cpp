#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "primitives/shared/index_map_parser.h"
#include "trace/kind_builder.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

struct NewIters {
  MapImage image;
  std::vector<IterKind> kinds;
  std::vector<IterVar> iters;
  std::vector<Expr> old_values;  // the old iterators as expressions of the new ones
};

/// Requires that the loops around are just the block's iterators and contain nothing else.
std::optional<Refusal> nest_refusal(const Block& block) {
  std::vector<Loop*> own;
  if (auto refusal = plain_nest_refusal(block, &own)) return refusal;
  for (const Loop* loop : loops_above(block)) {
    if (!contains(own, loop)) return Refusal{"a loop is no iterator of the block", loop->var->name, loop};
  }
  return std::nullopt;
}

std::optional<Refusal> map_refusal(const Block& block, const IndexMap& map, NewIters* made) {
  if (map.params.size() != block.iters.size())
    return Refusal{"the map needs one parameter for each iterator",
                   fmt::format("{} for {}", map.params.size(), block.iters.size()), &block};
  const std::string_view reason = check_index_map(map, iter_extents(block), &made->image);
  if (!reason.empty()) return Refusal{reason, block.name, &block};
  if (!made->image.onto) return Refusal{"the map is not onto", block.name, &block};
  std::vector<Expr> new_vars;
  for (size_t d = 0; d < map.results.size(); ++d) {
    bool spatial = false;
    bool reduction = false;
    for (size_t i = 0; i < map.params.size(); ++i) {
      if (!uses_var(map.results[d], map.params[i])) continue;
      (block.iters[i].kind == IterKind::Reduction ? reduction : spatial) = true;
    }
    if (spatial && reduction)
      return Refusal{"an index mixes spatial and reduction iterators", fmt::format("index {}", d), &block};
    const Var var(fmt::format("v{}", d));
    made->iters.push_back({var, made->image.extents[d], reduction ? IterKind::Reduction : IterKind::Spatial});
    new_vars.emplace_back(var);
  }
  const bool reduces =
      std::ranges::any_of(made->iters, [](const IterVar& iter) { return iter.kind == IterKind::Reduction; });
  if (block.has_reduction() && !reduces)
    return Refusal{"the map leaves the block without a reduction iterator", block.name, &block};
  auto old_values = map.invert(iter_extents(block), new_vars);
  if (!old_values) return Refusal{"the map is not invertible", block.name, &block};
  made->old_values = std::move(*old_values);
  return std::nullopt;
}

}  // namespace

void transform_block_layout(Program& program, BlockId id, std::string_view index_map) {
  const IndexMap map = parse_index_map(index_map, "transform_block_layout");
  Block& block = block_at(program, id, "transform_block_layout");
  const std::vector<Loop*> loops = loops_above(block);
  NewIters made;
  throw_refusal("transform_block_layout", program, nest_refusal(block));
  for (const Loop* loop : loops) require_plain_loop(program, *loop, "transform_block_layout");
  if (!loops.empty()) throw_refusal("transform_block_layout", program, order_refusal(block, *loops[0]));
  throw_refusal("transform_block_layout", program, map_refusal(block, map, &made));

  const Substitution old = block.iters_at(made.old_values);
  block.iters = made.iters;
  replace_iters(block, old);
  block.bindings.clear();
  for (size_t d = 0; d < made.iters.size(); ++d) block.bindings.emplace_back(Var(fmt::format("ax{}", d)));

  Stmt& top = loops.empty() ? static_cast<Stmt&>(block) : *loops[0];
  std::unique_ptr<Loop> outermost =
      program.make_loop(Var::from(block.bindings[0]), made.iters[0].extent, nullptr);
  Loop* innermost = outermost.get();
  StmtPtr taken = replace(top, std::move(outermost));
  const StmtPtr old_nest = loops.empty() ? nullptr : std::exchange(taken, nullptr);
  if (old_nest != nullptr) taken = replace(block, std::make_unique<Seq>());
  for (size_t d = 1; d < made.iters.size(); ++d) {
    innermost->set_body(program.make_loop(Var::from(block.bindings[d]), made.iters[d].extent, nullptr));
    innermost = innermost->body()->as<Loop>();
  }
  innermost->set_body(std::move(taken));
}

KindPtr transform_block_layout_kind() {
  return make_transformation("transform_block_layout", transform_block_layout, {"block", "index_map"});
}

void Schedule::transform_block_layout(BlockRV block, std::string_view index_map) {
  execute(kind("transform_block_layout"), {block, std::string(index_map)});
}

}  // namespace tunesmith
