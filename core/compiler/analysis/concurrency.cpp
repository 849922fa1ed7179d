#include "analysis/concurrency.h"

#include <algorithm>

#include <fmt/format.h>

#include "analysis/loop_tools.h"
#include "tunesmith/affine/iter_map.h"
#include "tunesmith/analysis/schedule_error.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/regions.h"
#include "tunesmith/ir/tree_surgery.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// True if all accesses of `buffer` are below `above`, a loop or block: each iteration or instance may then
/// have its own buffer.
bool is_private(const Program& program, const Stmt& above, const Buffer& buffer) {
  const auto& kept = program.intermediates;
  if (!contains(kept, buffer)) return false;
  const std::vector<Block*> blocks = program.blocks();
  return std::all_of(blocks.begin(), blocks.end(), [&](const Block* block) {
    // An outer block has the reads and writes of its inner blocks.
    return is_ancestor(above, *block) || is_ancestor(*block, above) ||
           (!touches(reads_of(*block), buffer) && !touches(writes_of(*block), buffer));
  });
}

/// True if different iterations of `loop` run different instances of `block`.
bool separates_instances(const Block& block, const Loop& loop) {
  // A binding may mix the loop with an outer one (after fuse and split); then the outer loop moves, too: what
  // distinguishes the iterations of both also distinguishes those of `loop` for a fixed outer one.
  const std::vector<Loop*> loops = loops_above(block);
  auto outermost = std::find(loops.begin(), loops.end(), &loop);
  std::optional<std::vector<Expr>> bindings = inner_bindings(block, **outermost);
  while (!bindings.has_value()) bindings = inner_bindings(block, **--outermost);
  // A loop that no binding uses only repeats instances within one iteration, and is ignored.
  const std::vector<IterDomain> below = domains_below(block, **outermost);
  std::vector<IterDomain> domains = used_domains(below, *bindings, Expr());
  const auto is_own = [&](const IterDomain& domain) { return domain.var == loop.var; };
  if (std::none_of(domains.begin(), domains.end(), is_own))
    domains.push_back({loop.var, loop.const_extent()});
  return check_iter_map(*bindings, iter_extents(block), domains, inner_predicate(block, **outermost))
      .injective;
}

std::optional<Refusal> block_refusal(const Program& program, const Loop& loop, const Block& block,
                                     Concurrency concurrency) {
  bool ordered_inside = false;
  for (size_t i = 0; i < block.iters.size(); ++i) {
    const IterVar& iter = block.iters[i];
    const bool opaque = iter.kind == IterKind::Opaque;
    if (opaque) {
      for (const IterDomain& domain : domains_below(block, loop))
        ordered_inside = ordered_inside || uses_var(block.bindings[i], domain.var);
      if (uses_var(block.bindings[i], loop.var)) {
        return Refusal{"a block below has opaque iterators",
                       fmt::format("'{}' of {}", iter.var->name, block.name), &block};
      }
    }
    if (iter.kind == IterKind::Reduction && uses_var(block.bindings[i], loop.var)) {
      return Refusal{"the loop carries a reduction", fmt::format("'{}' of {}", iter.var->name, block.name),
                     &block};
    }
  }
  // Instances with different values of an opaque iterator may write the same element.
  if (!ordered_inside && separates_instances(block, loop)) {
    if (concurrency == Concurrency::Threads || !holds_blocks(block)) return std::nullopt;
    // All lanes share a buffer between the inner blocks.
    for (const Access& write : writes_of(block)) {
      if (is_private(program, block, write.buffer))
        return Refusal{"a block below has a buffer of its own", block.name, &block};
    }
    return std::nullopt;
  }
  if (concurrency == Concurrency::Threads) {
    const std::vector<Access> writes = writes_of(block);
    if (std::all_of(writes.begin(), writes.end(),
                    [&](const Access& access) { return is_private(program, loop, access.buffer); })) {
      return std::nullopt;
    }
  }
  return Refusal{"different iterations of the loop may write the same element", block.name, &block};
}

}  // namespace

std::optional<Refusal> concurrency_refusal(const Program& program, const Loop& loop,
                                           Concurrency concurrency) {
  int64_t extent = 0;
  if (as_const_int(loop.extent, &extent) && extent == 1) return std::nullopt;
  std::optional<Refusal> found;
  for_each_outer_block(loop, [&](const Block& block) {
    if (!found.has_value()) found = block_refusal(program, loop, block, concurrency);
  });
  return found;
}

std::optional<Refusal> loop_kind_refusal(const Program& program, const Loop& loop, LoopKind kind) {
  if (kind == LoopKind::Serial || kind == LoopKind::Unrolled) return std::nullopt;
  const bool lanes = kind == LoopKind::Vectorized;
  if (const Loop* outer = loop_above(loop, is_vectorized))
    return Refusal{"the loop stands inside a vectorized one", outer->var->name, outer};
  std::optional<Refusal> found;
  walk(loop, [&](const Stmt& stmt) {
    const auto* inner = stmt.as<Loop>();
    const auto* block = stmt.as<Block>();
    if (found.has_value()) return;
    if (lanes && inner != nullptr && inner != &loop && inner->loop_kind != LoopKind::Serial &&
        inner->loop_kind != LoopKind::Unrolled) {
      found = Refusal{"a loop inside runs concurrently, too", inner->var->name, inner};
    }
    if (lanes && block != nullptr && block->init() != nullptr) {
      found = Refusal{"a reduction's initialization stands inside the loop", block->name, block};
    }
    if (lanes && block != nullptr && block->annotations.contains(kTensorIntrinsic)) {
      found = Refusal{"a tensor intrinsic stands inside the loop", block->name, block};
    }
  });
  if (found.has_value()) return found;
  return concurrency_refusal(program, loop, lanes ? Concurrency::Lanes : Concurrency::Threads);
}

bool has_concurrent_loop(const Program& program) {
  return find_first<Loop>(program.root(), [](const Loop& loop) {
           return loop.loop_kind != LoopKind::Serial && loop.loop_kind != LoopKind::Unrolled;
         }) != nullptr;
}

std::optional<Refusal> concurrent_loop_refusal(const Program& program) {
  std::optional<Refusal> found;
  find_first<Loop>(program.root(), [&](const Loop& loop) {
    found = loop_kind_refusal(program, loop, loop.loop_kind);
    return found.has_value();
  });
  return found;
}

void set_loop_kind(const Program& program, Loop& loop, LoopKind kind, std::string_view primitive) {
  if (loop.loop_kind != LoopKind::Serial) {
    throw ScheduleError(primitive, "the loop is not serial",
                        fmt::format("{} is {}", loop.var->name, loop_kind_name(loop.loop_kind)), program,
                        &loop);
  }
  throw_refusal(primitive, program, loop_kind_refusal(program, loop, kind));
  loop.loop_kind = kind;
}

}  // namespace tunesmith
