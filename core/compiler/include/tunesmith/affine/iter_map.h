// Quasi-affine iterator maps: do the bindings of a block map its loops one-to-one (and onto)? As in TVM's
// arith/iter_affine_map, every index has the form  sum of (var // lower_factor % extent) * scale, + base.
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
  std::vector<IterSplit> terms;  // by decreasing scale
  int64_t base = 0;
};

/// `expr` as an IterSum over `domains`, or nothing.
std::optional<IterSum> as_iter_sum(const Expr& expr, std::span<const IterDomain> domains);

struct IterMapCheck {
  bool injective = false;  // different points of the domains where the predicate holds have different images
  bool bijective = false;  // injective, and the image is the whole box [0, extents)
  std::string reason;      // why it is not bijective; "" if it is
};

/// Checks the map  bindings : domains -> box of `extents`  on the points where `predicate` holds.
/// Conservative: false unless proved. A loop of extent above 1 that no binding uses makes the map not
/// injective. Supports predicates that are conjunctions of  index < bound, as from splits that do not divide.
IterMapCheck check_iter_map(std::span<const Expr> bindings, std::span<const int64_t> extents,
                            std::span<const IterDomain> domains, const Expr& predicate);

}  // namespace tunesmith
#pragma GCC visibility pop
