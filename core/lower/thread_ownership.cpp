#include "lower/thread_ownership.h"

#include <algorithm>

#include "support/contains.h"
#include "tunesmith/affine/iter_map.h"
#include "tunesmith/affine/region.h"

namespace tunesmith {
namespace {

/// Variables of the loops around the statement that are neither in `axes` nor in `fixed`.
std::vector<Var> running_vars(const Stmt& stmt, std::span<const IterDomain> axes,
                              std::span<const Var> fixed) {
  std::vector<Var> running;
  for (const Loop* loop : loops_above(stmt)) {
    const bool is_axis =
        std::ranges::any_of(axes, [&](const IterDomain& axis) { return axis.var == loop->var; });
    if (!is_axis && !contains(fixed, loop->var)) running.push_back(loop->var);
  }
  return running;
}

/// Which of equally long pieces of a dimension begins at `first`, as a function of the axes alone; null when
/// it is none.
Expr piece_of(const DimRange& range, std::span<const IterDomain> axes, const Analyzer& analyzer) {
  Substitution origin;
  for (const IterDomain& axis : axes) origin.set(axis.var, 0);
  const Expr moved = analyzer.simplify(range.min - substitute(range.min, origin));
  for (const Var& var : vars_of(moved)) {
    if (std::ranges::none_of(axes, [&](const IterDomain& axis) { return axis.var == var; })) return {};
  }
  const Expr piece = analyzer.simplify(floordiv(moved, range.extent));
  return analyzer.can_prove_equal(piece * range.extent, moved) ? piece : Expr();
}

}  // namespace

bool touch_different_elements(const Buffer& buffer, std::span<const LaunchAccess> accesses,
                              std::span<const IterDomain> all_axes, std::span<const Var> fixed) {
  std::vector<IterDomain> axes;
  for (const IterDomain& axis : all_axes) {
    if (axis.extent > 1) axes.push_back(axis);
  }
  if (axes.empty() || accesses.empty()) return true;
  Analyzer outside;
  for (const IterDomain& axis : axes) outside.bind(axis);
  for (const LaunchAccess& access : accesses) {
    const Analyzer at = Analyzer::at(*access.stmt);
    for (const Var& var : fixed) {
      if (const auto range = at.range_of(var)) outside.bind(var, *range);
    }
  }
  Region touched;
  for (const LaunchAccess& access : accesses) {
    const Region one = relax_access(buffer, access.indices, running_vars(*access.stmt, axes, fixed),
                                    Analyzer::at(*access.stmt));
    touched = touched.empty() ? one : unite(touched, one, buffer, outside);
  }
  // Boxes whose pieces differ in some dimension have no element in common.
  std::vector<Expr> pieces;
  std::vector<int64_t> counts;
  for (const DimRange& range : touched) {
    const Expr piece = piece_of(range, axes, outside);
    if (!piece) continue;
    pieces.push_back(piece);
    counts.push_back(outside.bounds(piece).max + 1);
  }
  return !pieces.empty() && check_iter_map(pieces, counts, axes, bool_imm(true)).injective;
}

}  // namespace tunesmith
