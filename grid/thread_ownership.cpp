#include "thread_ownership.h"

#include <algorithm>

#include "tunesmith/affine/iter_map.h"
#include "tunesmith/affine/linear_form.h"
#include "tunesmith/affine/region.h"
#include "tunesmith/support/contains.h"

namespace tunesmith {
namespace {

/// The variables of the enclosing loops that are in neither `axes` nor `fixed`.
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

/// The index of the piece that begins at `first`, if a dimension is divided into equally long pieces, as a
/// function of the axes only; null if it depends on other variables.
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

std::vector<IterDomain> separating(std::span<const IterDomain> axes) {
  std::vector<IterDomain> several(axes.begin(), axes.end());
  std::erase_if(several, [](const IterDomain& axis) { return axis.extent == 1; });
  return several;
}

/// Functions of the axes, with the number of values of each.
struct Digits {
  std::vector<Expr> digits;
  std::vector<int64_t> counts;

  void add(Expr digit, int64_t count) {
    digits.push_back(std::move(digit));
    counts.push_back(count);
  }
  bool tell(std::span<const IterDomain> axes) const {
    return !digits.empty() && check_iter_map(digits, counts, axes, bool_imm(true)).injective;
  }
};

bool is_moved(size_t dimension, std::span<const LaunchAccess> accesses, std::span<const Var> vars) {
  return std::ranges::any_of(
      accesses, [&](const LaunchAccess& access) { return uses_any(access.indices[dimension], vars); });
}

/// For index x of an access with terms c * digit over the axes
/// only: finds those with x // c % n == digit in all accesses.
void add_common_digits(size_t dimension, std::span<const LaunchAccess> accesses,
                       std::span<const IterDomain> axes, const Analyzer& outside, Digits& digits) {
  std::vector<Var> vars;
  for (const IterDomain& axis : axes) vars.push_back(axis.var);
  const LaunchAccess& first = accesses.front();
  const LinearForm index = Analyzer::at(*first.stmt).linear(first.indices[dimension]);
  for (const auto& [coefficient, digit] : parts_of(index, vars).moving.terms) {
    const Interval values = outside.bounds(digit);
    if (coefficient < 1 || values.min != 0) continue;
    const bool common = std::ranges::all_of(accesses, [&](const LaunchAccess& access) {
      const Expr told = floormod(floordiv(access.indices[dimension], coefficient), values.max + 1);
      return Analyzer::at(*access.stmt).can_prove_equal(told, digit);
    });
    if (common) digits.add(digit, values.max + 1);
  }
}

}  // namespace

bool touch_different_elements(const Buffer& buffer, std::span<const LaunchAccess> accesses,
                              std::span<const IterDomain> all_axes, std::span<const Var> fixed,
                              std::span<const Var> folded) {
  const std::vector<IterDomain> axes = separating(all_axes);
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
  // Boxes with different pieces in some dimension are disjoint.
  Digits pieces;
  for (size_t d = 0; d < touched.size(); ++d) {
    const Expr piece = is_moved(d, accesses, folded) ? Expr() : piece_of(touched[d], axes, outside);
    if (piece) pieces.add(piece, outside.bounds(piece).max + 1);
  }
  return pieces.tell(axes);
}

bool elements_tell_iteration(std::span<const LaunchAccess> accesses, std::span<const IterDomain> all_axes) {
  const std::vector<IterDomain> axes = separating(all_axes);
  if (axes.empty() || accesses.empty()) return true;
  Analyzer outside;
  for (const IterDomain& axis : axes) outside.bind(axis);
  Digits digits;
  for (size_t d = 0; d < accesses.front().indices.size(); ++d)
    add_common_digits(d, accesses, axes, outside, digits);
  return digits.tell(axes);
}

}  // namespace tunesmith
