#include "unit/affine/brute_force.h"

#include <algorithm>
#include <stdexcept>
#include <string>

namespace tunesmith::test {
namespace {

int64_t floor_quotient(int64_t a, int64_t b) {
  int64_t quotient = a / b;
  if (quotient * b > a) --quotient;
  return quotient;
}

const Expr& any_var(RandomStream& random, const std::vector<Expr>& vars) {
  return vars[random.below(vars.size())];
}

std::vector<Expr> as_exprs(const std::vector<Ranged>& vars) {
  std::vector<Expr> exprs;
  for (const Ranged& ranged : vars) exprs.emplace_back(ranged.var);
  return exprs;
}

/// Draws from few values, so that divisors often split sums.
int64_t random_constant(RandomStream& random) {
  static constexpr int64_t kValues[] = {1, 2, 2, 3, 4, 4, 5, 6, 8, 8, 12, 16, 7};
  return kValues[random.below(std::size(kValues))];
}

}  // namespace

std::string describe(const std::vector<Ranged>& vars) {
  std::string text;
  for (const Ranged& r : vars)
    text += r.var->name + " in [" + std::to_string(r.min) + ", " + std::to_string(r.max) + "] ";
  return text;
}

int64_t evaluate(const Expr& expr, const std::vector<Ranged>& vars, const Point& point) {
  const auto arg = [&](size_t i) { return evaluate(expr.arg(i), vars, point); };
  switch (expr.kind()) {
    case ExprKind::IntImm:
      return expr.as<IntImm>()->value;
    case ExprKind::Var:
      for (size_t i = 0; i < vars.size(); ++i) {
        if (vars[i].var.get() == expr.get()) return point[i];
      }
      throw std::logic_error("unknown variable");
    case ExprKind::Add:
      return arg(0) + arg(1);
    case ExprKind::Sub:
      return arg(0) - arg(1);
    case ExprKind::Mul:
      return arg(0) * arg(1);
    case ExprKind::FloorDiv:
      return floor_quotient(arg(0), arg(1));
    case ExprKind::FloorMod:
      return arg(0) - floor_quotient(arg(0), arg(1)) * arg(1);
    case ExprKind::Min:
      return std::min(arg(0), arg(1));
    case ExprKind::Max:
      return std::max(arg(0), arg(1));
    case ExprKind::Eq:
      return arg(0) == arg(1);
    case ExprKind::Ne:
      return arg(0) != arg(1);
    case ExprKind::Lt:
      return arg(0) < arg(1);
    case ExprKind::Le:
      return arg(0) <= arg(1);
    case ExprKind::And:
      return arg(0) && arg(1);
    case ExprKind::Or:
      return arg(0) || arg(1);
    case ExprKind::Not:
      return !arg(0);
    case ExprKind::Select:
      return arg(0) ? arg(1) : arg(2);
    case ExprKind::Cast:
      return arg(0);
    default:
      throw std::logic_error("no integer value");
  }
}

void for_each_point(const std::vector<Ranged>& vars, const std::function<void(const Point&)>& visit) {
  Point point;
  for (const Ranged& ranged : vars) point.push_back(ranged.min);
  for (;;) {
    visit(point);
    size_t i = vars.size();
    while (i > 0 && point[i - 1] == vars[i - 1].max) {
      point[i - 1] = vars[i - 1].min;
      --i;
    }
    if (i == 0) return;
    ++point[i - 1];
  }
}

Analyzer analyzer_of(const std::vector<Ranged>& vars) {
  Analyzer analyzer;
  for (const Ranged& ranged : vars) analyzer.bind(ranged.var, Interval{ranged.min, ranged.max});
  return analyzer;
}

std::vector<Ranged> random_vars(RandomStream& random, size_t count, int64_t max_extent, bool from_zero) {
  std::vector<Ranged> vars;
  for (size_t i = 0; i < count; ++i) {
    const auto min =
        from_zero || random.below(3) != 0 ? int64_t{0} : static_cast<int64_t>(random.below(9)) - 5;
    const auto extent = static_cast<int64_t>(random.below(static_cast<uint64_t>(max_extent))) + 1;
    vars.push_back({Var("v" + std::to_string(i)), min, min + extent - 1});
  }
  return vars;
}

Expr random_index(RandomStream& random, const std::vector<Ranged>& vars, int depth) {
  const auto exprs = as_exprs(vars);
  const auto sub = [&] { return random_index(random, vars, depth - 1); };
  if (depth == 0) {
    if (random.below(5) == 0) return static_cast<int64_t>(random.below(20)) - 6;
    return any_var(random, exprs);
  }
  const Expr constant = random_constant(random);
  switch (random.below(14)) {
    case 0:
    case 1:
      return sub() + sub();
    case 2:
      return sub() - sub();
    case 3:
      return sub() * constant;
    case 4:
      return sub() * constant + sub();
    case 5:
      return floordiv(sub() * constant + sub(), random_constant(random));
    case 6:
      return floormod(sub() * constant + sub(), random_constant(random));
    case 7:
      return floordiv(sub(), constant);
    case 8:
      return floormod(sub(), constant);
    case 9: {
      // The two halves of a split, joined or mixed.
      const Expr x = sub();
      const Expr factor = random.below(4) != 0 ? constant : Expr(random_constant(random));
      return floordiv(x, constant) * factor + floormod(x, constant);
    }
    case 10:
      return min(sub(), sub());
    case 11:
      return max(sub(), sub());
    case 12:
      return select(random_condition(random, vars, depth - 1), sub(), sub());
    default:
      return depth > 1 ? sub() * sub() : sub();
  }
}

Expr random_condition(RandomStream& random, const std::vector<Ranged>& vars, int depth) {
  const auto index = [&] { return random_index(random, vars, depth); };
  const auto condition = [&] { return random_condition(random, vars, depth - 1); };
  switch (random.below(depth > 0 ? 8 : 5)) {
    case 0:
    case 1:
      return lt(index(), index());
    case 2:
      return le(index(), static_cast<int64_t>(random.below(40)) - 10);
    case 3:
      return eq(index(), index());
    case 4:
      return ne(index(), index());
    case 5:
      return logical_and(condition(), condition());
    case 6:
      return logical_or(condition(), condition());
    default:
      return logical_not(condition());
  }
}

}  // namespace tunesmith::test
