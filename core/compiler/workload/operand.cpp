#include "workload/operand.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "ir/reads_memory.h"
#include "tunesmith/ir/fold.h"
#include "tunesmith/support/error.h"

namespace tunesmith::workload {

namespace {

bool is_comparison(std::string_view op) {
  return op == "<" || op == "<=" || op == ">" || op == ">=" || op == "==" || op == "!=";
}

double largest(DType type) {
  if (type == kF64) return std::numeric_limits<double>::max();
  if (type == kF16) return 65504.0;
  if (type == kBF16) return 0x1.fep127;
  return std::numeric_limits<float>::max();
}

bool fits(int64_t value, DType type) {
  if (type.bits >= 64) return value >= 0 || !type.is_unsigned_int();
  if (type.code == TypeCode::UInt) return value >= 0 && value < (int64_t{1} << type.bits);
  const int64_t half = int64_t{1} << (type.bits - 1);
  return value >= -half && value < half;
}

}  // namespace

Operand Operand::of(int64_t value) {
  Operand made;
  made.integer = value;
  made.magnitude = std::fabs(static_cast<double>(value));
  return made;
}

Operand Operand::of_real(double value) {
  Operand made;
  made.kind = Operand::Kind::Real;
  made.real = value;
  return made;
}

Operand Operand::of_bool(bool value) {
  Operand made;
  made.kind = Operand::Kind::Boolean;
  made.integer = value ? 1 : 0;
  return made;
}

Operand Operand::of_type(DType type) {
  Operand made;
  made.kind = Operand::Kind::Type;
  made.type = type;
  return made;
}

Operand Operand::of(Expr expr, double magnitude) {
  Operand made;
  made.kind = Operand::Kind::Typed;
  made.type = expr.dtype().is_index() ? kI64 : expr.dtype();
  made.expr = std::move(expr);
  made.magnitude = magnitude;
  return made;
}

std::string Operand::describe() const {
  switch (kind) {
    case Operand::Kind::Integer:
      return "an integer";
    case Operand::Kind::Real:
      return "a number with a fraction";
    case Operand::Kind::Boolean:
      return "true or false";
    case Operand::Kind::Type:
      return "a data type";
    case Operand::Kind::Typed:
      break;
  }
  return type.str();
}

bool Operand::is_number() const {
  return is_constant() ||
         (is_typed() && expr.dtype().is_index() && !reads_memory(expr) &&
          std::ranges::all_of(vars_of(expr), [](const Var& var) { return var->is_parameter(); }));
}

void TypeRules::fail(Place place, const std::string& message, std::string remedy) const {
  throw UserError(SourceLocation{file_, place.line, place.column}, message, std::move(remedy));
}

Expr TypeRules::as_type(Place place, const Operand& value, DType type) const {
  switch (value.kind) {
    case Operand::Kind::Typed:
      if (value.type == type) return tunesmith::cast(type, value.expr);
      if (type.is_index() && value.has_index_form()) return value.expr;
      if (type.is_float() && value.is_number()) return tunesmith::cast(type, value.expr);
      fail(place, fmt::format("expected {}, this is {}", type.str(), value.type.str()),
           fmt::format("cast it: {}(...)", type.str()));
    case Operand::Kind::Integer:
      if (type.is_float()) return float_imm(static_cast<double>(value.integer), type);
      if (!type.is_int()) fail(place, fmt::format("expected {}, this is {}", type.str(), value.integer));
      if (!fits(value.integer, type))
        fail(place, fmt::format("{} does not fit {}", value.integer, type.str()));
      return int_imm(value.integer, type);
    case Operand::Kind::Real:
      if (!type.is_float()) fail(place, fmt::format("expected {}, this is {}", type.str(), value.real));
      if (std::isfinite(value.real) && std::fabs(value.real) > largest(type)) {
        fail(place, fmt::format("{} does not fit {}", value.real, type.str()));
      }
      return float_imm(value.real, type);
    case Operand::Kind::Boolean:
      if (!type.is_bool()) {
        fail(place, fmt::format("expected {}, this is true or false", type.str()),
             "choose with select(condition, a, b)");
      }
      return bool_imm(value.integer != 0);
    case Operand::Kind::Type:
      break;
  }
  fail(place, fmt::format("expected a value, found the data type {}", value.type.str()),
       fmt::format("a cast is written {}(value)", value.type.str()));
}

Expr TypeRules::typed(Place place, const Operand& value) const {
  if (value.is_typed()) return tunesmith::cast(value.type, value.expr);
  if (value.kind == Operand::Kind::Boolean) return bool_imm(value.integer != 0);
  if (value.is_constant()) fail(place, "cannot infer the number's type", "give it one: f32(...)");
  return as_type(place, value, kF32);
}

Operand TypeRules::limited(Place place, Expr expr, double magnitude) const {
  if (expr.dtype().is_index() && magnitude > kMaxMagnitude) fail(place, "this index may exceed 2^53");
  return Operand::of(std::move(expr), magnitude);
}

DType TypeRules::common_type(Place place, std::string_view what, const Operand& a, const Operand& b) const {
  for (const Operand* each : {&a, &b}) {
    if (each->kind == Operand::Kind::Type) {
      fail(place, fmt::format("{} takes values, {} is a data type", what, each->type.str()),
           fmt::format("a cast is written {}(value)", each->type.str()));
    }
  }
  if (a.is_typed() && b.is_typed() && a.type != b.type) {
    if (a.type.is_float() && b.is_number()) return a.type;
    if (b.type.is_float() && a.is_number()) return b.type;
    fail(place,
         fmt::format("{} takes two values of one type, found {} and {}", what, a.type.str(), b.type.str()),
         fmt::format("cast one of them: {}(...)", (a.type.is_float() ? a : b).type.str()));
  }
  return a.is_typed() ? a.type : b.type;
}

DType TypeRules::common_form(DType type, const Operand& a, const Operand& b) {
  return type == kI64 && a.has_index_form() && b.has_index_form() ? kIndex : type;
}

Operand TypeRules::negate(Place place, const Operand& value) const {
  if (value.kind == Operand::Kind::Real) return Operand::of_real(-value.real);
  if (value.is_typed() && !value.type.is_bool()) return Operand::of(-value.expr, value.magnitude);
  return binary(place, "-", Operand::of(0), value);
}

Operand TypeRules::logical_not(Place place, const Operand& value) const {
  if (value.kind == Operand::Kind::Boolean) return Operand::of_bool(value.integer == 0);
  if (!value.is_typed() || !value.type.is_bool()) {
    fail(place, fmt::format("'not' takes a condition, found {}", value.describe()));
  }
  return Operand::of(tunesmith::logical_not(value.expr));
}

Operand TypeRules::fold(Place place, const std::string& op, const Operand& a, const Operand& b) const {
  if (a.kind == Operand::Kind::Boolean || b.kind == Operand::Kind::Boolean)
    fail(place, fmt::format("'{}' takes numbers, not conditions", op));
  if (op == "/") {
    if (b.number() == 0.0) fail(place, "division by zero");
    return Operand::of_real(a.number() / b.number());
  }
  if (a.kind == Operand::Kind::Real || b.kind == Operand::Kind::Real) {
    if (op == "//" || op == "%") fail(place, fmt::format("'{}' takes integers", op), "divide with '/'");
    double value = op == "min" ? std::min(a.number(), b.number()) : std::max(a.number(), b.number());
    if (op == "+") value = a.number() + b.number();
    if (op == "-") value = a.number() - b.number();
    if (op == "*") value = a.number() * b.number();
    return Operand::of_real(value);
  }
  const int64_t x = a.integer;
  const int64_t y = b.integer;
  if (op == "min") return Operand::of(std::min(x, y));
  if (op == "max") return Operand::of(std::max(x, y));
  if (op == "//" || op == "%") {
    if (y == 0) fail(place, "division by zero");
    if (y == -1) return op == "%" ? Operand::of(0) : negate(place, a);
    return Operand::of(op == "//" ? floor_divide(x, y) : floor_modulo(x, y));
  }
  int64_t value = 0;
  const bool overflow = op == "+"   ? __builtin_add_overflow(x, y, &value)
                        : op == "-" ? __builtin_sub_overflow(x, y, &value)
                                    : __builtin_mul_overflow(x, y, &value);
  if (overflow) fail(place, fmt::format("{} {} {} does not fit 64 bits", x, op, y));
  return Operand::of(value);
}

Operand TypeRules::compare(Place place, const std::string& op, const Operand& a, const Operand& b) const {
  if (a.is_constant() && b.is_constant()) {
    if ((a.kind == Operand::Kind::Boolean) != (b.kind == Operand::Kind::Boolean))
      fail(place, fmt::format("'{}' takes two numbers", op));
    const bool integers = a.kind != Operand::Kind::Real && b.kind != Operand::Kind::Real;
    const bool less = integers ? a.integer < b.integer : a.number() < b.number();
    const bool same = integers ? a.integer == b.integer : a.number() == b.number();
    if (op == "<") return Operand::of_bool(less);
    if (op == "<=") return Operand::of_bool(less || same);
    if (op == ">") return Operand::of_bool(!less && !same);
    if (op == ">=") return Operand::of_bool(!less);
    return Operand::of_bool(same == (op == "=="));
  }
  const DType type = common_type(place, fmt::format("'{}'", op), a, b);
  if (type.is_bool()) fail(place, fmt::format("'{}' takes numbers, not conditions", op));
  const DType form = common_form(type, a, b);
  const Expr x = as_type(place, a, form);
  const Expr y = as_type(place, b, form);
  if (op == "<") return Operand::of(lt(x, y));
  if (op == "<=") return Operand::of(le(x, y));
  if (op == ">") return Operand::of(lt(y, x));
  if (op == ">=") return Operand::of(le(y, x));
  return Operand::of(op == "==" ? eq(x, y) : ne(x, y));
}

Operand TypeRules::logical(Place place, const std::string& op, const Operand& a, const Operand& b) const {
  for (const Operand* each : {&a, &b}) {
    if (each->kind != Operand::Kind::Boolean && !(each->is_typed() && each->type.is_bool())) {
      fail(place, fmt::format("'{}' takes two conditions, found {}", op, each->describe()));
    }
  }
  if (a.is_constant() || b.is_constant()) {
    const Operand& known = a.is_constant() ? a : b;
    const Operand& other = a.is_constant() ? b : a;
    return (known.integer != 0) == (op == "and") ? other : known;
  }
  return Operand::of(op == "and" ? logical_and(a.expr, b.expr) : logical_or(a.expr, b.expr));
}

Operand TypeRules::binary(Place place, const std::string& op, const Operand& a, const Operand& b) const {
  if (is_comparison(op)) return compare(place, op, a, b);
  if (op == "and" || op == "or") return logical(place, op, a, b);
  const DType type = common_type(place, fmt::format("'{}'", op), a, b);
  if (a.is_constant() && b.is_constant()) return fold(place, op, a, b);
  if (type.is_bool()) fail(place, fmt::format("'{}' takes numbers, not conditions", op));
  const DType form = common_form(type, a, b);
  const Expr x = as_type(place, a, form);
  const Expr y = as_type(place, b, form);
  const double larger = std::max(a.magnitude, b.magnitude);
  if (op == "+") return limited(place, x + y, a.magnitude + b.magnitude);
  if (op == "-") return limited(place, x - y, a.magnitude + b.magnitude);
  if (op == "*") return limited(place, x * y, a.magnitude * b.magnitude);
  if (op == "min") return limited(place, min(x, y), larger);
  if (op == "max") return limited(place, max(x, y), larger);
  if (op == "/") {
    if (!type.is_float())
      fail(place, fmt::format("'/' divides floating values, found {}", type.str()), "use '//'");
    return Operand::of(div(x, y));
  }
  if (!type.is_int())
    fail(place, fmt::format("'{}' takes integers, found {}", op, type.str()), "divide with '/'");
  if (b.kind != Operand::Kind::Integer || b.integer <= 0) {
    fail(place, fmt::format("'{}' needs a positive constant on its right", op));
  }
  return limited(place, op == "//" ? floordiv(x, y) : floormod(x, y), larger);
}

Operand TypeRules::math(Place place, MathOp op, const std::vector<Operand>& args) const {
  const std::string name(math_op_name(op));
  const size_t arity = math_op_arity(op);
  if (args.size() != arity) {
    fail(place,
         fmt::format("{} takes {} {}, found {}", name, arity, arity == 1 ? "value" : "values", args.size()));
  }
  const Operand& a = args.front();
  const Operand& b = args.back();
  const DType type = common_type(place, name, a, b);
  if (a.is_constant() && b.is_constant()) {
    if (a.kind == Operand::Kind::Boolean || b.kind == Operand::Kind::Boolean)
      fail(place, fmt::format("{} takes numbers, not conditions", name));
    if (is_bit_op(op))
      fail(place, fmt::format("{} takes a value with a type", name), "give it one: i32(...)");
    if (op == MathOp::Abs && a.kind == Operand::Kind::Integer) return a.integer < 0 ? negate(place, a) : a;
    const double value = evaluate_math(op, a.number(), b.number());
    if (std::isnan(value)) fail(place, fmt::format("{}({}) is not a number", name, a.number()));
    return Operand::of_real(value);
  }
  if (is_bit_op(op) && !type.is_int()) {
    fail(place, fmt::format("{} takes integers, found {}", name, type.str()), "cast it: i32(...)");
  }
  if (!type.is_float() && !is_bit_op(op) && !(op == MathOp::Abs && type.is_int())) {
    fail(place, fmt::format("{} takes a floating value, found {}", name, type.str()), "cast it: f32(...)");
  }
  std::vector<Expr> operands;
  const DType form = is_bit_op(op) ? type : common_form(type, a, b);
  for (const Operand& arg : args) operands.push_back(as_type(place, arg, form));
  return limited(place, call(op, std::move(operands)), a.magnitude);
}

Operand TypeRules::bit_not(Place place, const Operand& value) const {
  if (!value.is_typed() || !value.type.is_int()) {
    fail(place, fmt::format("bit_not takes an integer with a type, found {}", value.describe()),
         "cast it: i32(...)");
  }
  return math(place, MathOp::BitXor, {value, Operand::of(int_imm(-1, value.type))});
}

Operand TypeRules::cast(Place place, DType type, const Operand& value) const {
  if (!value.is_typed()) {
    const bool index = type == kI64 && value.has_index_form() && value.magnitude <= kMaxMagnitude;
    return Operand::of(as_type(place, value, index ? kIndex : type), value.magnitude);
  }
  if (value.type == type) return value;
  if (type.is_bool())
    fail(place, fmt::format("cannot cast {} to a condition", value.type.str()), "compare it with 0");
  return limited(place, tunesmith::cast(type, value.expr), value.magnitude);
}

Operand TypeRules::select(Place place, const Operand& condition, const Operand& a, const Operand& b) const {
  if (condition.kind == Operand::Kind::Boolean) return condition.integer != 0 ? a : b;
  if (!condition.is_typed() || !condition.type.is_bool()) {
    fail(place, fmt::format("select takes a condition first, found {}", condition.describe()),
         "compare it with 0");
  }
  const DType type = common_type(place, "select", a, b);
  if (a.is_constant() && b.is_constant()) {
    fail(place, "cannot infer the type of this select", "give one of them a type: f32(...)");
  }
  const DType form = common_form(type, a, b);
  return limited(place, tunesmith::select(condition.expr, as_type(place, a, form), as_type(place, b, form)),
                 std::max(a.magnitude, b.magnitude));
}

DType accumulator_type(DType type) {
  if (type.is_float() && type.bits < 32) return kF32;
  if (type.is_int() && type.bits < 32) return kI32;
  return type;
}

}  // namespace tunesmith::workload
