// What the loop primitives share.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tunesmith/affine/iter_map.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/ir/visit.h"

namespace tunesmith {

/// Why a primitive cannot do what it was asked, and where.
struct Refusal {
  std::string_view reason;  // a constant
  std::string detail;
  const Stmt* place = nullptr;
};

/// Throws ScheduleError when there is a refusal.
void throw_refusal(std::string_view primitive, const Program& program, const std::optional<Refusal>& refusal);

/// Throws ScheduleError unless the loop is serial, without annotations and of constant extent from 0: a new
/// loop could not carry what was said of the old one.
void require_plain_loop(const Program& program, const Loop& loop, std::string_view primitive);

/// The blocks under `stmt` (itself included) that stand in no other block under it.
template <typename Visit>
void for_each_outer_block(Stmt& stmt, const Visit& visit) {
  if (auto* block = stmt.as<Block>()) {
    visit(*block);
    return;
  }
  visit_children(stmt, [&](Stmt& child) { for_each_outer_block(child, visit); });
}

template <typename Visit>
void for_each_outer_block(const Stmt& stmt, const Visit& visit) {
  if (const auto* block = stmt.as<Block>()) {
    visit(*block);
    return;
  }
  visit_children(stmt, [&](const Stmt& child) { for_each_outer_block(child, visit); });
}

/// Under `stmt`, which stands in its program: `var` becomes `index` in bindings and predicates, which are
/// simplified, and blocks get `predicate` (when not null) besides theirs. Goes down to the outermost blocks
/// only: what is inside a block speaks of the block's own variables.
void replace_loop_var(Stmt& stmt, const Var& var, const Expr& index, const Expr& predicate);

/// A block whose instances must keep their order and number.
bool has_opaque_iter(const Block& block);
/// With `reason`, when the block is one.
std::optional<Refusal> opaque_refusal(const Block& block, std::string_view reason);

/// Nothing when the block has no condition, each of its iterators is one loop around it, and these hold
/// nothing else. `own` gets the loops, null for an iterator of extent 1 without a loop; there may be others
/// around.
std::optional<Refusal> plain_nest_refusal(const Block& block, std::vector<Loop*>* own);

/// In the block's init and body the iterators that it had become `values`, over those that it has now;
/// simplified.
void replace_iters(Block& block, const Substitution& values);

/// Do other blocks stand in it?
bool holds_blocks(const Block& block);

/// The block's iteration variables with their domains, and the extents of these alone.
std::vector<IterDomain> iter_domains(const Block& block);
std::vector<int64_t> iter_extents(std::span<const IterVar> iters);
inline std::vector<int64_t> iter_extents(const Block& block) { return iter_extents(block.iters); }

/// Of loops with constant extents.
std::vector<IterDomain> domains_of(std::span<Loop* const> loops);

/// Those of `domains` that some binding, or the predicate (where it is not null), uses: others only repeat
/// the instances.
std::vector<IterDomain> used_domains(std::span<const IterDomain> domains, std::span<const Expr> bindings,
                                     const Expr& predicate);

/// The loops from `outermost` down to `block`, both in one scope, as domains.
std::vector<IterDomain> domains_below(const Block& block, const Loop& outermost);

/// The block's bindings as functions of the loops from `outermost` inwards: terms over loops further out
/// stand still and are dropped. Nothing when a term mixes both.
std::optional<std::vector<Expr>> inner_bindings(const Block& block, const Loop& outermost);

/// The parts of the block's predicate that speak of loops from `outermost` inwards alone: what holds of them
/// wherever the loops further out stand.
Expr inner_predicate(const Block& block, const Loop& outermost);

/// True when each instance of the block runs at most once inside one execution of `loop`.
bool runs_once(const Block& block, const Loop& loop);

/// Nothing when the instances of `block` may run in any order of the loops from `outermost` down: spatial and
/// reduction iterators only; for a block that accumulates, every instance runs once, and the first one of
/// each spatial instance stays the one that initializes.
std::optional<Refusal> order_refusal(const Block& block, const Loop& outermost);

}  // namespace tunesmith
