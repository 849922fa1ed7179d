#include <fmt/format.h>

#include "primitives/primitives.h"
#include "trace/kind_builder.h"

namespace tunesmith {

void reorder_block_iter_var(Program& program, BlockId id, std::span<const int64_t> order) {
  Block& block = block_at(program, id, "reorder_block_iter_var");
  std::vector<bool> seen(block.iters.size());
  for (const int64_t position : order) {
    const auto i = static_cast<size_t>(position);
    if (position < 0 || i >= seen.size() || seen[i]) {
      throw ScheduleError("reorder_block_iter_var", "the order is not a permutation of the iterators",
                          fmt::format("{} of {}", position, seen.size()), program, &block);
    }
    seen[i] = true;
  }
  if (order.size() != block.iters.size()) {
    throw ScheduleError("reorder_block_iter_var", "the order is not a permutation of the iterators",
                        fmt::format("{} positions for {} iterators", order.size(), block.iters.size()),
                        program, &block);
  }
  std::vector<IterVar> iters;
  std::vector<Expr> bindings;
  for (const int64_t position : order) {
    iters.push_back(block.iters[static_cast<size_t>(position)]);
    bindings.push_back(block.bindings[static_cast<size_t>(position)]);
  }
  block.iters = std::move(iters);
  block.bindings = std::move(bindings);
}

KindPtr reorder_block_iter_var_kind() {
  return make_loop_transformation("reorder_block_iter_var", reorder_block_iter_var, {"block", "order"});
}

void Schedule::reorder_block_iter_var(BlockRV block, const std::vector<int64_t>& order) {
  execute(kind("reorder_block_iter_var"), {block, as_arg(order)});
}

}  // namespace tunesmith
