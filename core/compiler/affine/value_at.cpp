#include "tunesmith/affine/value_at.h"

#include "tunesmith/ir/fold.h"

namespace tunesmith {

std::optional<int64_t> value_at(const Point& point, const Expr& expr, int lane) {
  const auto arg = [&](size_t i) { return value_at(point, expr.arg(i), lane); };
  switch (expr.kind()) {
    case ExprKind::IntImm:
      return expr.as<IntImm>()->value;
    case ExprKind::Var:
      for (const auto& [known, value] : point) {
        if (known.get() == expr.get()) return value;
      }
      return std::nullopt;
    case ExprKind::Not: {
      const std::optional<int64_t> value = arg(0);
      return value ? std::optional<int64_t>(*value == 0) : std::nullopt;
    }
    case ExprKind::Select: {
      const std::optional<int64_t> condition = arg(0);
      if (!condition) return std::nullopt;
      return arg(*condition != 0 ? 1 : 2);
    }
    case ExprKind::Ramp: {
      const std::optional<int64_t> base = arg(0);
      const std::optional<int64_t> stride = arg(1);
      if (!base || !stride) return std::nullopt;
      return *base + lane * *stride;
    }
    case ExprKind::Broadcast:
      return arg(0);
    default:
      break;
  }
  if (expr.args().size() != 2 || !expr.arg(0).dtype().scalar().is_int()) {
    const bool logical = expr.is(ExprKind::And) || expr.is(ExprKind::Or);
    if (!logical) return std::nullopt;
  }
  const std::optional<int64_t> a = arg(0);
  const std::optional<int64_t> b = a ? arg(1) : std::nullopt;
  return b ? fold_int(expr.kind(), *a, *b, expr.arg(0).dtype()) : std::nullopt;
}

}  // namespace tunesmith
