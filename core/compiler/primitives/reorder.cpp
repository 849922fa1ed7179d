#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "analysis/concurrency.h"
#include "analysis/loop_tools.h"
#include "primitives/primitives.h"
#include "trace/kind_builder.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// Swaps two loops' headers, not their places.
void swap_heads(Loop& a, Loop& b) {
  std::swap(a.id, b.id);
  std::swap(a.var, b.var);
  std::swap(a.min, b.min);
  std::swap(a.extent, b.extent);
  std::swap(a.loop_kind, b.loop_kind);
  std::swap(a.thread, b.thread);
  std::swap(a.annotations, b.annotations);
}

/// All loops from the outermost to the innermost of `wanted`; each must be the only child of the previous
/// one.
std::vector<Loop*> chain_of(const Program& program, const std::vector<Loop*>& wanted) {
  const auto is_wanted = [&](const Stmt* stmt) { return contains(wanted, stmt); };
  Loop* outermost = wanted.front();
  for (Stmt* above = outermost; above != nullptr && above->kind != StmtKind::Block; above = above->parent) {
    if (is_wanted(above)) outermost = above->as<Loop>();
  }
  std::vector<Loop*> chain;
  size_t found = 0;
  for (Loop* loop = outermost; loop != nullptr;
       loop = loop->body() != nullptr ? loop->body()->as<Loop>() : nullptr) {
    chain.push_back(loop);
    if (is_wanted(loop) && ++found == wanted.size()) return chain;
  }
  const auto missing =
      std::find_if(wanted.begin(), wanted.end(), [&](const Loop* loop) { return !contains(chain, loop); });
  throw ScheduleError("reorder", "the loops are not on one chain of only children",
                      fmt::format("{} and {}", outermost->var->name, (*missing)->var->name), program,
                      *missing);
}

/// Puts the loop at `order[i]` of the chain to `places[i]`.
void permute(const std::vector<Loop*>& chain, const std::vector<size_t>& places, std::vector<size_t> order) {
  for (size_t i = 0; i < places.size(); ++i) {
    if (order[i] == places[i]) continue;
    swap_heads(*chain[places[i]], *chain[order[i]]);
    // The loop that was at places[i] is now at order[i].
    for (size_t j = i + 1; j < order.size(); ++j) {
      if (order[j] == places[i]) {
        order[j] = order[i];
        break;
      }
    }
  }
}

}  // namespace

void reorder(Program& program, std::span<const LoopId> ids) {
  if (ids.empty()) throw ScheduleError("reorder", "there are no loops", "", program);
  std::vector<Loop*> wanted;
  for (const LoopId id : ids) {
    Loop& loop = loop_at(program, id, "reorder");
    if (contains(wanted, &loop)) {
      throw ScheduleError("reorder", "a loop is named twice", loop.var->name, program, &loop);
    }
    wanted.push_back(&loop);
  }
  const std::vector<Loop*> chain = chain_of(program, wanted);
  std::vector<size_t> order;
  for (Loop* loop : wanted) {
    order.push_back(static_cast<size_t>(std::find(chain.begin(), chain.end(), loop) - chain.begin()));
  }
  std::vector<size_t> places = order;
  std::sort(places.begin(), places.end());
  if (places == order) return;

  for (const Loop* loop : chain) {
    int64_t extent = 0;
    if (!is_const_int(loop->min, 0) || !as_const_int(loop->extent, &extent)) {
      throw ScheduleError("reorder", "the loop's range is not constant from 0", "", program, loop);
    }
  }
  const Loop& first_moved = *chain[places.front()];
  for_each_outer_block(first_moved, [&](const Block& block) {
    throw_refusal("reorder", program, order_refusal(block, first_moved));
  });

  permute(chain, places, order);
  for (const Loop* loop : chain) {
    const std::optional<Refusal> refusal = loop_kind_refusal(program, *loop, loop->loop_kind);
    if (!refusal.has_value()) continue;
    std::vector<size_t> back(chain.size());
    for (size_t i = 0; i < chain.size(); ++i) back[i] = i;
    for (size_t i = 0; i < places.size(); ++i) back[order[i]] = places[i];
    std::vector<size_t> all(chain.size());
    for (size_t i = 0; i < chain.size(); ++i) all[i] = i;
    permute(chain, all, back);
    throw ScheduleError("reorder", "a concurrent loop would be illegal at its new place",
                        fmt::format("{}: {}", refusal->reason, refusal->detail), program, refusal->place);
  }
}

KindPtr reorder_kind() { return make_loop_transformation("reorder", reorder, {"loops"}); }

void Schedule::reorder(const std::vector<LoopRV>& loops) { execute(kind("reorder"), {as_arg(loops)}); }

}  // namespace tunesmith
