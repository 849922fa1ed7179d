#include "nearest_integer.h"

#include <cmath>

namespace tunesmith::llvm_target {
namespace {

const FloatImm* number_in(const Expr& expr) {
  return (expr.is(ExprKind::Broadcast) ? expr.arg(0) : expr).as<FloatImm>();
}

/// The operand to which the number is added, or from which it is subtracted.
const Expr* other_operand(const Expr& expr, ExprKind kind, double number) {
  if (!expr.is(kind)) return nullptr;
  const FloatImm* right = number_in(expr.arg(1));
  return right != nullptr && right->value == number ? &expr.arg(0) : nullptr;
}

const Expr* argument_of(const Expr& expr, MathOp op) {
  const auto* call = expr.as<CallNode>();
  return call != nullptr && call->op == op ? &expr.arg(0) : nullptr;
}

/// a, of floor(a + number) + ceil(a - number).
const Expr* both_neighbours(const Expr& expr, double number) {
  if (!expr.is(ExprKind::Add)) return nullptr;
  const Expr* below = argument_of(expr.arg(0), MathOp::Floor);
  const Expr* above = argument_of(expr.arg(1), MathOp::Ceil);
  if (below == nullptr || above == nullptr) return nullptr;
  const Expr* left = other_operand(*below, ExprKind::Add, number);
  const Expr* right = other_operand(*above, ExprKind::Sub, number);
  return left != nullptr && right != nullptr && equal(*left, *right) ? left : nullptr;
}

bool is_integer(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::FloatImm:
      return std::floor(expr.as<FloatImm>()->value) == expr.as<FloatImm>()->value;
    case ExprKind::Cast:
      return !expr.arg(0).dtype().is_float();
    case ExprKind::Broadcast:
      return is_integer(expr.arg(0));
    case ExprKind::Call:
      return argument_of(expr, MathOp::Floor) != nullptr || argument_of(expr, MathOp::Ceil) != nullptr;
    case ExprKind::Add:
    case ExprKind::Sub:
      return is_integer(expr.arg(0)) && is_integer(expr.arg(1));
    default:
      return false;
  }
}

}  // namespace

const Expr* rounded_to_even(const Expr& expr) {
  const Expr* quarter = both_neighbours(expr, 0.25);
  const Expr* sum = quarter == nullptr ? nullptr : other_operand(*quarter, ExprKind::Mul, 0.25);
  return sum == nullptr ? nullptr : both_neighbours(*sum, 0.5);
}

const Expr* rounded_integer(const Expr& expr) {
  const Expr* sum = argument_of(expr, MathOp::Floor);
  const Expr* integer = sum == nullptr ? nullptr : other_operand(*sum, ExprKind::Add, 0.5);
  return integer != nullptr && is_integer(*integer) ? integer : nullptr;
}

}  // namespace tunesmith::llvm_target
