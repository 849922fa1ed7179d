// Helpers of the loop primitives.
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

/// Why a primitive cannot be applied, and where.
struct Refusal {
  std::string_view reason;  // a constant
  std::string detail;
  const Stmt* place = nullptr;
};

/// Throws ScheduleError when there is a refusal.
void throw_refusal(std::string_view primitive, const Program& program, const std::optional<Refusal>& refusal);

/// Throws ScheduleError unless the loop is serial, without annotations, from 0
/// and of constant extent: a new loop could not keep the old one's properties.
void require_plain_loop(const Program& program, const Loop& loop, std::string_view primitive);

/// The outermost blocks under `stmt` (possibly itself).
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

/// Under `stmt`, replaces `var` by `index` in bindings and predicates, which are
/// simplified, and adds `predicate` (if not null) to the blocks' predicates. Only
/// the outermost blocks change: inner blocks use the outer block's iterators.
void replace_loop_var(Stmt& stmt, const Var& var, const Expr& index, const Expr& predicate);

/// Do the block's instances have to keep their order and number?
bool has_opaque_iter(const Block& block);
/// With `reason`, when the block is one.
std::optional<Refusal> opaque_refusal(const Block& block, std::string_view reason);

/// Nothing when the block has no predicate, each of its iterators is bound to one
/// enclosing loop, and these loops contain nothing else. `own` receives the loops, null
/// for an iterator of extent 1 without a loop; there may be further loops outside.
std::optional<Refusal> plain_nest_refusal(const Block& block, std::vector<Loop*>* own);

/// Replaces the block's old iterators in init and body by
/// `values`, which are expressions of its new ones; simplifies.
void replace_iters(Block& block, const Substitution& values);

/// Does the block contain blocks?
bool holds_blocks(const Block& block);

/// The block's iteration variables with their domains, and their extents.
std::vector<IterDomain> iter_domains(const Block& block);
std::vector<int64_t> iter_extents(std::span<const IterVar> iters);
inline std::vector<int64_t> iter_extents(const Block& block) { return iter_extents(block.iters); }

/// For loops with constant extents.
std::vector<IterDomain> domains_of(std::span<Loop* const> loops);

/// The `domains` that some binding or the predicate (if
/// not null) uses; the others only repeat instances.
std::vector<IterDomain> used_domains(std::span<const IterDomain> domains, std::span<const Expr> bindings,
                                     const Expr& predicate);

/// The loops from `outermost` down to `block`, both in one scope, as domains.
std::vector<IterDomain> domains_below(const Block& block, const Loop& outermost);

/// The block's bindings as functions of the loops from `outermost`
/// inwards, without terms of outer loops. Nothing when a term mixes both.
std::optional<std::vector<Expr>> inner_bindings(const Block& block, const Loop& outermost);

/// The parts of the block's predicate that only use loops from `outermost`
/// inwards, and so hold for all iterations of the outer loops.
Expr inner_predicate(const Block& block, const Loop& outermost);

/// True when each instance of the block runs at most once inside one execution of `loop`.
bool runs_once(const Block& block, const Loop& loop);

/// Nothing when the instances of `block` may run in any order of the loops from
/// `outermost` down: spatial and reduction iterators only; for a reduction, every
/// instance runs once, and the first one of each spatial instance still initialises.
std::optional<Refusal> order_refusal(const Block& block, const Loop& outermost);

}  // namespace tunesmith
