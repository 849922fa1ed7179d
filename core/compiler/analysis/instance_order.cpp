// Decides whether the instances of a block may run in another order.
#include <algorithm>

#include <fmt/format.h>

#include "analysis/loop_tools.h"
#include "tunesmith/affine/iter_map.h"
#include "tunesmith/ir/regions.h"

namespace tunesmith {
namespace {

bool reads_what_it_writes(const Block& block) {
  const std::vector<Access> reads = reads_of(block);
  const std::vector<Access> writes = writes_of(block);
  return std::any_of(reads.begin(), reads.end(),
                     [&](const Access& read) { return touches(writes, read.buffer); });
}

/// If `condition` holds somewhere, does it also hold with all reduction digits set to zero? True when
/// it bounds an increasing function of the digits from above. `digits` are those of the bindings.
bool holds_at_first(const Expr& condition, const std::vector<IterSplit>& digits,
                    const std::vector<IterDomain>& domains) {
  if ((!condition.is(ExprKind::Lt) && !condition.is(ExprKind::Le)) || !vars_of(condition.arg(1)).empty())
    return false;
  const std::optional<IterSum> sum = as_iter_sum(condition.arg(0), domains);
  if (!sum.has_value()) return false;
  return std::all_of(sum->terms.begin(), sum->terms.end(), [&](const IterSplit& term) {
    const auto domain = std::find_if(domains.begin(), domains.end(), [&](const IterDomain& candidate) {
      return candidate.var == term.source;
    });
    const bool whole = term.lower_factor == 1 && term.extent >= domain->extent;
    const bool digit = std::any_of(digits.begin(), digits.end(), [&](const IterSplit& known) {
      return known.source == term.source && known.lower_factor == term.lower_factor &&
             known.extent == term.extent;
    });
    return term.scale > 0 && (whole || digit);
  });
}

/// The instance whose reduction iterators are all zero comes first in every order of the loops: each
/// reduction iterator is an increasing sum of digits of the loops, and the predicate never skips just that
/// instance.
bool first_stays_first(const Block& block, const std::vector<Expr>& bindings,
                       const std::vector<IterDomain>& domains) {
  std::vector<IterSplit> digits;
  std::vector<Var> reduction_loops;
  for (size_t i = 0; i < bindings.size(); ++i) {
    const std::optional<IterSum> sum = as_iter_sum(bindings[i], domains);
    if (!sum.has_value()) return false;
    digits.insert(digits.end(), sum->terms.begin(), sum->terms.end());
    if (block.iters[i].kind != IterKind::Reduction) continue;
    if (sum->base != 0) return false;
    for (const IterSplit& term : sum->terms) {
      if (term.scale <= 0) return false;
      reduction_loops.push_back(term.source);
    }
  }
  const std::vector<Expr> conditions = conjuncts(block.predicate);
  if (conditions.empty()) return true;
  const std::vector<IterDomain> all = domains_of(loops_above(block));
  return std::all_of(conditions.begin(), conditions.end(), [&](const Expr& condition) {
    return !uses_any(condition, reduction_loops) || holds_at_first(condition, digits, all);
  });
}

}  // namespace

bool runs_once(const Block& block, const Loop& loop) {
  const std::vector<IterDomain> inner = domains_below(block, loop);
  const std::vector<int64_t> extents = iter_extents(block);
  if (const auto bindings = inner_bindings(block, loop))
    return check_iter_map(*bindings, extents, inner, inner_predicate(block, loop)).injective;
  const std::vector<Loop*> loops = loops_above(block);
  const auto first_inner = std::find(loops.begin(), loops.end(), &loop);
  auto all = used_domains(domains_of({loops.begin(), first_inner}), block.bindings, Expr());
  all.insert(all.end(), inner.begin(), inner.end());
  return check_iter_map(block.bindings, extents, all, block.predicate).injective;
}

std::optional<Refusal> order_refusal(const Block& block, const Loop& outermost) {
  if (auto refusal = opaque_refusal(block, "a block below has opaque iterators")) return refusal;
  if (!block.has_reduction() && !reads_what_it_writes(block)) return std::nullopt;

  const std::optional<std::vector<Expr>> bindings = inner_bindings(block, outermost);
  const std::vector<IterDomain> domains = domains_below(block, outermost);
  if (!bindings.has_value() ||
      !check_iter_map(*bindings, iter_extents(block), domains, inner_predicate(block, outermost)).injective) {
    return Refusal{"a block below accumulates and its bindings are not one-to-one", block.name, &block};
  }
  if (block.init() != nullptr && !first_stays_first(block, *bindings, domains)) {
    return Refusal{"another iteration of a reduction would run before its initialisation", block.name,
                   &block};
  }
  return std::nullopt;
}

}  // namespace tunesmith
