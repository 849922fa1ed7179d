#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/ir/expr.h"
#include "tunesmith/ir/fold.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

Expr make_op(ExprKind kind, DType type, const Expr& a, const Expr& b = {}, const Expr& c = {}) {
  return Expr(boost::intrusive_ptr<const ExprNode>(new OpNode(kind, type, a, b, c)));
}

Expr widen(const Expr& a, int lanes) { return a.dtype().lanes == lanes ? a : broadcast(a, lanes); }

/// The scalar under a Broadcast, or the expression itself.
const Expr& lane_value(const Expr& a) { return a.is(ExprKind::Broadcast) ? a.arg(0) : a; }
const IntImm* int_constant(const Expr& a) { return lane_value(a).as<IntImm>(); }
const FloatImm* float_constant(const Expr& a) { return lane_value(a).as<FloatImm>(); }

bool is_float_value(const Expr& a, double value) {
  const FloatImm* imm = float_constant(a);
  return imm && imm->value == value && std::signbit(imm->value) == std::signbit(value);
}

[[noreturn]] void refuse(ExprKind kind, const Expr& a, const Expr& b) {
  throw InternalError(fmt::format("operator {} cannot take operands of types {} and {}",
                                  static_cast<int>(kind), a.dtype().str(), b.dtype().str()));
}

void check_types(ExprKind kind, const Expr& a, const Expr& b) {
  const DType type = a.dtype();
  bool good = type == b.dtype();
  switch (kind) {
    case ExprKind::And:
    case ExprKind::Or:
      good = good && type.is_bool();
      break;
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
      good = good && type.is_int();
      break;
    case ExprKind::Eq:
    case ExprKind::Ne:
      break;
    default:
      good = good && !type.is_bool();
      break;
  }
  if (!good) refuse(kind, a, b);
}

/// Null if nothing folds. Both operands must be constants of the same type.
Expr fold_constants(ExprKind kind, const Expr& a, const Expr& b, DType result) {
  if (const IntImm *ia = int_constant(a), *ib = int_constant(b); ia && ib) {
    const auto value = fold_int(kind, ia->value, ib->value, a.dtype());
    return value ? int_imm(*value, result) : Expr();
  }
  if (const FloatImm *fa = float_constant(a), *fb = float_constant(b); fa && fb) {
    if (is_comparison(kind)) return int_imm(compare_float(kind, fa->value, fb->value), result);
    const auto value = fold_float(kind, fa->value, fb->value);
    return value ? float_imm(*value, result) : Expr();
  }
  return {};
}

/// Folds neutral and absorbing elements of integers and bools; null if none applies.
Expr fold_int_identity(ExprKind kind, const Expr& a, const Expr& b) {
  const IntImm* ia = int_constant(a);
  const IntImm* ib = int_constant(b);
  if (!ia && !ib) return {};
  const auto a_is = [&](int64_t value) { return ia && ia->value == value; };
  const auto b_is = [&](int64_t value) { return ib && ib->value == value; };
  switch (kind) {
    case ExprKind::Add:
      if (a_is(0)) return b;
      if (b_is(0)) return a;
      break;
    case ExprKind::Sub:
      if (b_is(0)) return a;
      break;
    case ExprKind::Mul:
      if (a_is(0) || b_is(1)) return a;
      if (b_is(0) || a_is(1)) return b;
      break;
    case ExprKind::Div:
    case ExprKind::FloorDiv:
      if (b_is(1) || (a_is(0) && ib && !b_is(0))) return a;
      break;
    case ExprKind::FloorMod:
      if (b_is(1)) return int_imm(0, a.dtype());
      break;
    case ExprKind::And:
      if (a_is(0) || b_is(1)) return a;
      if (b_is(0) || a_is(1)) return b;
      break;
    case ExprKind::Or:
      if (a_is(1) || b_is(0)) return a;
      if (b_is(1) || a_is(0)) return b;
      break;
    default:
      break;
  }
  return {};
}

/// Folds only what is exact for all values, including infinities and signed zeros.
Expr fold_float_identity(ExprKind kind, const Expr& a, const Expr& b) {
  switch (kind) {
    case ExprKind::Add:
      if (is_float_value(a, -0.0)) return b;
      if (is_float_value(b, -0.0)) return a;
      break;
    case ExprKind::Sub:
      if (is_float_value(b, 0.0)) return a;
      break;
    case ExprKind::Mul:
      if (is_float_value(a, 1.0)) return b;
      if (is_float_value(b, 1.0)) return a;
      break;
    case ExprKind::Div:
      if (is_float_value(b, 1.0)) return a;
      break;
    default:
      break;
  }
  return {};
}

/// Sums and products of a ramp with a broadcast are ramps, and code generators look for ramps of stride 1.
Expr fold_ramp(ExprKind kind, const Expr& a, const Expr& b, int lanes) {
  const bool left = a.is(ExprKind::Ramp) && b.is(ExprKind::Broadcast);
  const bool right = a.is(ExprKind::Broadcast) && b.is(ExprKind::Ramp);
  if (!left && !right) return {};
  const Expr& r = left ? a : b;
  const Expr& scalar = (left ? b : a).arg(0);
  switch (kind) {
    case ExprKind::Add:
      return ramp(left ? r.arg(0) + scalar : scalar + r.arg(0), r.arg(1), lanes);
    case ExprKind::Sub:
      return left ? ramp(r.arg(0) - scalar, r.arg(1), lanes) : ramp(scalar - r.arg(0), -r.arg(1), lanes);
    case ExprKind::Mul:
      return ramp(r.arg(0) * scalar, r.arg(1) * scalar, lanes);
    default:
      return {};
  }
}

}  // namespace

Expr int_imm(int64_t value, DType type) {
  check_invariant(!type.is_float(), "an integer constant has an integer type or bool");
  const Expr scalar(boost::intrusive_ptr<const ExprNode>(new IntImm(wrap_to(type, value), type.scalar())));
  return widen(scalar, type.lanes);
}

Expr float_imm(double value, DType type) {
  check_invariant(type.is_float(), "a floating constant has a floating type");
  const Expr scalar(boost::intrusive_ptr<const ExprNode>(new FloatImm(round_to(type, value), type.scalar())));
  return widen(scalar, type.lanes);
}

Expr constant(double value, DType type) {
  return type.is_float() ? float_imm(value, type) : int_imm(float_to_int(value, type), type);
}

Expr bool_imm(bool value) { return int_imm(value, kBool); }

Expr binary(ExprKind kind, const Expr& left, const Expr& right) {
  check_invariant(kind >= ExprKind::Add && kind <= ExprKind::Or, "the kind is a binary one");
  check_invariant(left && right, "operands are not null");
  const int lanes = std::max(left.dtype().lanes, right.dtype().lanes);
  Expr a = widen(left, lanes);
  Expr b = widen(right, lanes);
  check_types(kind, a, b);
  if (a.is(ExprKind::Broadcast) && b.is(ExprKind::Broadcast))
    return broadcast(binary(kind, a.arg(0), b.arg(0)), lanes);

  const DType type = is_comparison(kind) ? kBool.with_lanes(lanes) : a.dtype();
  if (Expr folded = fold_constants(kind, a, b, type)) return folded;
  if (a.dtype().is_float()) {
    if (Expr folded = fold_float_identity(kind, a, b)) return folded;
  } else {
    if (Expr folded = fold_int_identity(kind, a, b)) return folded;
    if (lanes > 1) {
      if (Expr folded = fold_ramp(kind, a, b, lanes)) return folded;
    }
    // Constants go to the right of sums and products, so that callers need not look on both sides.
    if ((kind == ExprKind::Add || kind == ExprKind::Mul) && int_constant(a)) std::swap(a, b);
  }
  return make_op(kind, type, a, b);
}

Expr operator+(const Expr& a, const Expr& b) { return binary(ExprKind::Add, a, b); }
Expr operator-(const Expr& a, const Expr& b) { return binary(ExprKind::Sub, a, b); }
Expr operator*(const Expr& a, const Expr& b) { return binary(ExprKind::Mul, a, b); }
// A product: 0 - x would lose the sign of a floating-point zero, and linear forms need coefficients.
Expr operator-(const Expr& a) {
  return a * (a.dtype().is_float() ? float_imm(-1, a.dtype()) : int_imm(-1, a.dtype()));
}
Expr div(const Expr& a, const Expr& b) { return binary(ExprKind::Div, a, b); }
Expr floordiv(const Expr& a, const Expr& b) { return binary(ExprKind::FloorDiv, a, b); }
Expr floormod(const Expr& a, const Expr& b) { return binary(ExprKind::FloorMod, a, b); }
Expr min(const Expr& a, const Expr& b) { return binary(ExprKind::Min, a, b); }
Expr max(const Expr& a, const Expr& b) { return binary(ExprKind::Max, a, b); }
Expr eq(const Expr& a, const Expr& b) { return binary(ExprKind::Eq, a, b); }
Expr ne(const Expr& a, const Expr& b) { return binary(ExprKind::Ne, a, b); }
Expr lt(const Expr& a, const Expr& b) { return binary(ExprKind::Lt, a, b); }
Expr le(const Expr& a, const Expr& b) { return binary(ExprKind::Le, a, b); }
Expr logical_and(const Expr& a, const Expr& b) { return binary(ExprKind::And, a, b); }
Expr logical_or(const Expr& a, const Expr& b) { return binary(ExprKind::Or, a, b); }

Expr logical_not(const Expr& a) {
  check_invariant(a && a.dtype().is_bool(), "not takes a bool");
  if (a.is(ExprKind::Not)) return a.arg(0);
  if (const IntImm* imm = int_constant(a)) return int_imm(!imm->value, a.dtype());
  return make_op(ExprKind::Not, a.dtype(), a);
}

Expr select(const Expr& condition, const Expr& then_value, const Expr& else_value) {
  check_invariant(condition && condition.dtype().is_bool(), "a select's condition is a bool");
  const int lanes = std::max({condition.dtype().lanes, then_value.dtype().lanes, else_value.dtype().lanes});
  const Expr a = widen(then_value, lanes);
  const Expr b = widen(else_value, lanes);
  if (a.dtype() != b.dtype()) refuse(ExprKind::Select, a, b);
  if (const IntImm* imm = int_constant(condition)) return imm->value ? a : b;
  return make_op(ExprKind::Select, a.dtype(), widen(condition, lanes), a, b);
}

Expr cast(DType type, const Expr& a) {
  const DType to = type.with_lanes(std::max(type.lanes, a.dtype().lanes));
  if (a.dtype().scalar() == to.scalar()) return widen(a, to.lanes);
  if (a.is(ExprKind::Broadcast)) return broadcast(cast(to.scalar(), a.arg(0)), to.lanes);
  if (const auto* imm = a.as<IntImm>()) {
    if (!to.is_float()) return int_imm(imm->value, to);
    return float_imm(int_to_float(imm->value, a.dtype(), to), to);
  }
  if (const auto* imm = a.as<FloatImm>()) return constant(imm->value, to);
  return widen(make_op(ExprKind::Cast, to.with_lanes(a.dtype().lanes), a), to.lanes);
}

Expr call(MathOp op, std::vector<Expr> args) {
  check_invariant(args.size() == math_op_arity(op), "the function has its number of arguments");
  int lanes = 1;
  for (const Expr& arg : args) lanes = std::max<int>(lanes, arg.dtype().lanes);
  for (Expr& arg : args) {
    arg = widen(arg, lanes);
    if (arg.dtype() != args[0].dtype()) refuse(ExprKind::Call, args[0], arg);
  }
  const DType type = args[0].dtype();
  const bool takes_integers = op == MathOp::Abs || is_bit_op(op);
  check_invariant(takes_integers ? type.is_int() || !is_bit_op(op) : type.is_float(),
                  "the function takes the type");
  return Expr(boost::intrusive_ptr<const ExprNode>(new CallNode(op, type, std::move(args))));
}

Expr load(const Buffer& buffer, std::vector<Expr> indices, const Expr& mask) {
  check_invariant(buffer != nullptr, "a load has a buffer");
  if (indices.size() != buffer->shape.size() && indices.size() != 1) {
    throw InternalError(fmt::format("buffer {} of {} dimensions loaded with {} indices", buffer->name,
                                    buffer->shape.size(), indices.size()));
  }
  int lanes = mask ? mask.dtype().lanes : 1;
  for (const Expr& index : indices) {
    check_invariant(index && index.dtype().is_index(),
                    "what stands in the brackets of an access is an index");
    lanes = std::max<int>(lanes, index.dtype().lanes);
  }
  const DType type = buffer->dtype.with_lanes(lanes);
  for (Expr& index : indices) {
    if (index.dtype().lanes != lanes) index = broadcast(index, lanes);
  }
  if (!mask) {
    return Expr(boost::intrusive_ptr<const ExprNode>(new LoadNode(buffer, type, std::move(indices), {})));
  }
  check_invariant(mask.dtype().is_bool(), "a mask is a bool");
  if (const IntImm* imm = int_constant(mask))
    return imm->value ? load(buffer, std::move(indices)) : constant(0, type);
  return Expr(boost::intrusive_ptr<const ExprNode>(
      new LoadNode(buffer, type, std::move(indices), widen(mask, lanes))));
}

Expr ramp(const Expr& base, const Expr& stride, int lanes) {
  check_invariant(base && base.dtype() == kIndex && stride.dtype() == kIndex,
                  "a ramp's base and stride are scalar indices");
  if (lanes == 1) return base;
  if (is_const_int(stride, 0)) return broadcast(base, lanes);
  return make_op(ExprKind::Ramp, base.dtype().with_lanes(lanes), base, stride);
}

Expr broadcast(const Expr& a, int lanes) {
  if (lanes == 1) return a;
  if (a.dtype().is_vector()) {
    throw InternalError(
        fmt::format("a value of type {} cannot become one of {} lanes", a.dtype().str(), lanes));
  }
  return make_op(ExprKind::Broadcast, a.dtype().with_lanes(lanes), a);
}

Expr with_args(const Expr& expr, std::vector<Expr> args) {
  check_invariant(args.size() == expr.args().size(), "the number of operands stays");
  switch (expr.kind()) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
    case ExprKind::Var:
      return expr;
    case ExprKind::Not:
      return logical_not(args[0]);
    case ExprKind::Select:
      return select(args[0], args[1], args[2]);
    case ExprKind::Cast:
      return cast(expr.dtype().scalar(), args[0]);
    case ExprKind::Call:
      return call(expr.as<CallNode>()->op, std::move(args));
    case ExprKind::Load: {
      const auto* node = expr.as<LoadNode>();
      Expr mask;
      if (args.size() > node->rank) {
        mask = std::move(args.back());
        args.pop_back();
      }
      return load(node->buffer, std::move(args), mask);
    }
    case ExprKind::Ramp:
      return ramp(args[0], args[1], expr.dtype().lanes);
    case ExprKind::Broadcast:
      return broadcast(args[0], expr.dtype().lanes);
    default:
      return binary(expr.kind(), args[0], args[1]);
  }
}

}  // namespace tunesmith
