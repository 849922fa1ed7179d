// From the elements of a buffer back to the iterations that touch them.
#pragma once

#include <optional>
#include <span>
#include <vector>

#include "tunesmith/affine/region.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// One index of an access as  scale * (iter // lower % modulus) + [low, high].
struct IndexDigit {
  int iter = -1;  // position among the iterators; -1 when the index uses none
  int64_t lower = 1;
  int64_t modulus = 0;  // 0: none
  int64_t scale = 1;
  Interval offset{0, 0};  // a range where loops inside the block take part

  /// scale * iter + constant
  bool is_linear() const { return iter >= 0 && lower == 1 && modulus == 0; }
};

/// Nothing when the index is of another form. Variables that are no iterators have their ranges in
/// `analyzer`.
std::optional<IndexDigit> index_digit(const Expr& index, std::span<const IterVar> iters,
                                      const Analyzer& analyzer);

/// For each iterator the range of its values with which `indices` meet `region`; clipped to its domain where
/// that can be shown. The whole domain for an iterator that the region does not bound: the answer may
/// be larger than needed, never smaller. `analyzer` knows what the region's mins stand on.
std::vector<DimRange> solve_iters(std::span<const IterVar> iters, std::span<const Expr> indices,
                                  const Region& region, const Analyzer& analyzer);

/// The iterators' values at which `indices` are equal to `values`; nothing when they cannot be told.
/// Iterators of extent 1 are 0.
std::optional<std::vector<Expr>> invert_indices(std::span<const IterVar> iters, std::span<const Expr> indices,
                                                std::span<const Expr> values);

}  // namespace tunesmith
