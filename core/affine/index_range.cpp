#include "affine/index_range.h"

#include <algorithm>
#include <vector>

#include <fmt/format.h>

#include "ir/fold.h"
#include "tunesmith/affine/simplify.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

/// Points tried: all of a smaller box, else that many drawn ones.
constexpr int64_t kPoints = 4096;

using Point = std::vector<std::pair<Var, int64_t>>;

/// The value of an integer or bool expression; nothing when it has parts that are neither.
std::optional<int64_t> evaluate(const Expr& expr, const Point& point) {
  if (const auto* number = expr.as<IntImm>()) return number->value;
  if (const auto* var = expr.as<VarNode>()) {
    for (const auto& [known, value] : point) {
      if (known.get() == var) return value;
    }
    return std::nullopt;
  }
  std::vector<int64_t> args;
  for (const Expr& arg : expr.args()) {
    const std::optional<int64_t> value = evaluate(arg, point);
    if (!value.has_value()) return std::nullopt;
    args.push_back(*value);
  }
  if (expr.is(ExprKind::Not)) return args[0] == 0 ? 1 : 0;
  if (expr.is(ExprKind::Select)) return args[0] != 0 ? args[1] : args[2];
  return args.size() == 2 ? fold_int(expr.kind(), args[0], args[1]) : std::nullopt;
}

}  // namespace

std::optional<std::string> point_outside(const Expr& index, int64_t extent,
                                         std::span<const IterDomain> ranges, const Expr& predicate) {
  Analyzer analyzer;
  for (const IterDomain& range : ranges) analyzer.bind(range);
  const Interval bounds = analyzer.bounds(index);
  if (bounds.min >= 0 && bounds.max < extent) return std::nullopt;

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
        // Faults lie at edges: half of the coordinates are drawn from the ends.
        const uint64_t choice = random.below(4);
        const auto inside = static_cast<int64_t>(random.below(static_cast<uint64_t>(range.extent)));
        point.emplace_back(range.var, choice == 0 ? 0 : choice == 1 ? range.extent - 1 : inside);
      } else {
        point.emplace_back(range.var, rest % range.extent);
        rest /= range.extent;
      }
    }
    const std::optional<int64_t> holds = evaluate(predicate, point);
    const std::optional<int64_t> value = evaluate(index, point);
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
