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

/// Throws ScheduleError if there is a refusal.
void throw_refusal(std::string_view primitive, const Program& program, const std::optional<Refusal>& refusal);

/// Throws ScheduleError unless the loop is serial, from 0, of constant extent and without annotations: a new
/// loop could not keep other properties.
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

/// Substitutes `index` for `var` in the bindings and predicates of the outermost blocks under `stmt`,
/// simplifies them, and adds `predicate` (if not null) to the blocks' predicates. Inner blocks do not change:
/// they use the outer block's iterators.
void replace_loop_var(Stmt& stmt, const Var& var, const Expr& index, const Expr& predicate);

/// Must the block's instances keep their order and number?
bool has_opaque_iter(const Block& block);
/// A refusal with `reason` if the block has an opaque iterator.
std::optional<Refusal> opaque_refusal(const Block& block, std::string_view reason);

/// Nothing if the block has no predicate, each of its iterators is bound to one enclosing loop, and these
/// loops contain nothing else. `own` receives the loops, null for an iterator of extent 1 without a loop.
/// There may be further loops outside.
std::optional<Refusal> plain_nest_refusal(const Block& block, std::vector<Loop*>* own);

/// Substitutes `values`, expressions of the new iterators, for the old iterators in the block's init and
/// body, and simplifies.
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

/// The block's bindings as functions of the loops from `outermost` inwards, without terms of outer loops.
/// Nothing if a term mixes both.
std::optional<std::vector<Expr>> inner_bindings(const Block& block, const Loop& outermost);

/// The conjuncts of the block's predicate that only use loops from `outermost` inwards, and so are
/// independent of the outer loops.
Expr inner_predicate(const Block& block, const Loop& outermost);

/// Does each instance of the block run at most once in one execution of `loop`?
bool runs_once(const Block& block, const Loop& loop);

/// Nothing if the instances of `block` may run in any order of the loops from `outermost` down: it has only
/// spatial and reduction iterators; in a reduction, every instance runs once, and the first one of each
/// spatial instance still initialises.
std::optional<Refusal> order_refusal(const Block& block, const Loop& outermost);

}  // namespace tunesmith
