// Quasi-affine iterator maps: are the bindings of a block a one-to-one (and onto) map of the loops around it?
// The form, from TVM's arith/iter_affine_map: every index is a sum of  (var // lower_factor % extent) * scale
// + base.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/affine/simplify.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// (source // lower_factor) % extent * scale
struct IterSplit {
  Var source;
  int64_t lower_factor = 1;
  int64_t extent = 1;
  int64_t scale = 1;
};

struct IterSum {
  std::vector<IterSplit> terms;  // by falling scale
  int64_t base = 0;
};

/// `expr` as an IterSum over `domains`, or nothing.
std::optional<IterSum> as_iter_sum(const Expr& expr, std::span<const IterDomain> domains);

struct IterMapCheck {
  bool injective = false;  // distinct points of the domains (where the predicate holds) give distinct results
  bool bijective = false;  // and every point of the box [0, extents) is given, each by exactly one point
  std::string reason;      // why not, when not
};

/// Checks  bindings : domains -> box of `extents`, restricted to points where `predicate` holds. Domains of
/// extent 1 and loops in no binding: a loop that appears in no binding makes the map not injective unless its
/// extent is 1. Predicates of the form  index < bound  (conjunctions) that come from splits that do not
/// divide are understood. Conservative: answers false where it cannot prove.
IterMapCheck check_iter_map(std::span<const Expr> bindings, std::span<const int64_t> extents,
                            std::span<const IterDomain> domains, const Expr& predicate);

}  // namespace tunesmith
#pragma GCC visibility pop
