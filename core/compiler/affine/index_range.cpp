#include "affine/index_range.h"

#include <algorithm>
#include <numeric>
#include <vector>

#include <fmt/format.h>

#include "tunesmith/affine/simplify.h"
#include "tunesmith/affine/value_at.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

/// The number of points to try: all points of a smaller box, else random ones.
constexpr int64_t kPoints = 4096;

/// Proves  form <= 0  from known inequalities.
class Prover {
 public:
  Prover(const Expr& predicate, const Analyzer& analyzer) : analyzer_(analyzer) { add_facts(predicate); }

  /// Given a fact F <= 0, it suffices to prove scale * form - factor * F <= 0 for positive numbers; the pairs
  /// that are tried cancel one term of the form.
  bool proves(const LinearForm& form) const {
    if (analyzer_.bounds(form.to_expr()).max <= 0) return true;
    for (const LinearForm& fact : facts_) {
      for (const auto& [coefficient, atom] : form.terms) {
        const int64_t known = coefficient_of(fact, atom);
        if (known == 0 || (known > 0) != (coefficient > 0) || !small(known) || !small(coefficient)) continue;
        const int64_t common = std::gcd(coefficient, known);
        const Expr rest = form.to_expr() * int_imm(std::abs(known) / common) -
                          fact.to_expr() * int_imm(std::abs(coefficient) / common);
        if (analyzer_.bounds(rest).max <= 0) return true;
      }
    }
    return false;
  }

 private:
  /// Keeps products of coefficients far from overflow.
  static bool small(int64_t coefficient) { return std::abs(coefficient) < int64_t{1} << 24; }

  static int64_t coefficient_of(const LinearForm& form, const Expr& atom) {
    for (const auto& [coefficient, known] : form.terms) {
      if (equal(known, atom)) return coefficient;
    }
    return 0;
  }

  void add_facts(const Expr& condition) {
    if (condition.is(ExprKind::And)) {
      add_facts(condition.arg(0));
      add_facts(condition.arg(1));
      return;
    }
    const bool strict = condition.is(ExprKind::Lt);
    if ((!strict && !condition.is(ExprKind::Le)) || !condition.arg(0).dtype().is_index()) return;
    LinearForm fact = analyzer_.linear(condition.arg(0) - condition.arg(1));
    if (strict) fact.constant += 1;
    facts_.push_back(std::move(fact));
  }

  const Analyzer& analyzer_;
  std::vector<LinearForm> facts_;  // each is at most 0
};

}  // namespace

bool proves_inside(const Expr& index, int64_t extent, std::span<const IterDomain> ranges,
                   const Expr& predicate) {
  Analyzer analyzer;
  for (const IterDomain& range : ranges) analyzer.bind(range);
  const Interval bounds = analyzer.bounds(index);
  if (bounds.min >= 0 && bounds.max < extent) return true;
  const Prover prover(predicate, analyzer);
  LinearForm above = analyzer.linear(index);
  LinearForm below = analyzer.linear(index * int_imm(-1));
  above.constant -= extent - 1;
  return prover.proves(below) && prover.proves(above);
}

std::optional<std::string> point_outside(const Expr& index, int64_t extent,
                                         std::span<const IterDomain> ranges, const Expr& predicate) {
  if (proves_inside(index, extent, ranges, predicate)) return std::nullopt;

  std::vector<IterDomain> used;
  int64_t points = 1;
  for (const IterDomain& range : ranges) {
    if (!uses_var(index, range.var) && !uses_var(predicate, range.var)) continue;
    used.push_back(range);
    points = points > kPoints ? points : points * std::min(range.extent, kPoints + 1);
  }
  RandomStream random(1);
  for (int64_t i = 0; i < std::min(points, kPoints); ++i) {
    Point point;
    int64_t rest = i;
    for (const IterDomain& range : used) {
      if (points > kPoints) {
        // Violations are likely at the ends: half of the coordinates are drawn there.
        const uint64_t choice = random.below(4);
        const auto inside = static_cast<int64_t>(random.below(static_cast<uint64_t>(range.extent)));
        point.emplace_back(range.var, choice == 0 ? 0 : choice == 1 ? range.extent - 1 : inside);
      } else {
        point.emplace_back(range.var, rest % range.extent);
        rest /= range.extent;
      }
    }
    const std::optional<int64_t> holds = value_at(point, predicate);
    const std::optional<int64_t> value = value_at(point, index);
    if (!holds.has_value() || !value.has_value()) return std::nullopt;
    if (*holds == 0 || (*value >= 0 && *value < extent)) continue;
    std::string text;
    for (const auto& [var, coordinate] : point) text += fmt::format("{} = {}, ", var->name, coordinate);
    if (!text.empty()) text.replace(text.size() - 2, 2, " ");
    return fmt::format("{}gives {}", text, *value);
  }
  return std::nullopt;
}

}  // namespace tunesmith
