#include <algorithm>
#include <bit>
#include <charconv>
#include <limits>
#include <utility>

#include <fmt/format.h>

#include "ir/expr_syntax.h"
#include "ir/text_form.h"
#include "tunesmith/ir/fold.h"

namespace tunesmith {
namespace {

template <typename Number>
std::optional<Number> read_number(std::string_view text, [[maybe_unused]] int base = 10) {
  Number value{};
  std::from_chars_result result{};
  if constexpr (std::is_floating_point_v<Number>) {
    result = std::from_chars(text.data(), text.data() + text.size(), value);
  } else {
    result = std::from_chars(text.data(), text.data() + text.size(), value, base);
  }
  if (result.ec != std::errc() || result.ptr != text.data() + text.size()) return std::nullopt;
  return value;
}

std::optional<double> read_float(std::string_view text, DType type) {
  if (text == "inf") return std::numeric_limits<double>::infinity();
  if (text == "-inf") return -std::numeric_limits<double>::infinity();
  if (text == "nan") return std::numeric_limits<double>::quiet_NaN();
  if (text.starts_with(kNanBits)) {
    const auto bits = read_number<uint64_t>(text.substr(kNanBits.size()), 16);
    return bits ? std::optional(std::bit_cast<double>(*bits)) : std::nullopt;
  }
  if (type.bits == 64) return read_number<double>(text);
  // Reading via f64 would round twice.
  return read_number<float>(text);
}

std::optional<int64_t> read_integer(std::string_view text, DType type) {
  if (type.is_unsigned_int() && type.bits == 64) {
    const auto number = read_number<uint64_t>(text);
    return number ? std::optional(static_cast<int64_t>(*number)) : std::nullopt;
  }
  const auto number = read_number<int64_t>(text);
  return number && wrap_to(type, *number) == *number ? number : std::nullopt;
}

/// Builds expressions of the operands first, then compares their types.
class Typer {
 public:
  explicit Typer(const std::string& file) : file_(file) {}

  Expr of(const ExprSyntax& s, std::optional<DType> expected) const {
    switch (s.kind) {
      case ExprKind::IntImm:
        return untyped_literal(s, expected);
      case ExprKind::Var:
        return s.var;
      case ExprKind::Not:
        return logical_not(of_type(*s.args[0], kBool, "the operand of 'not'"));
      case ExprKind::Select:
        return selection(s, expected);
      case ExprKind::Cast:
        return conversion(s);
      case ExprKind::Call:
        return function(s, expected);
      case ExprKind::Load:
        return access(s);
      case ExprKind::Ramp:
        return ramp(scalar_index(*s.args[0]), scalar_index(*s.args[1]), s.lanes);
      case ExprKind::Broadcast: {
        const Expr value = of(*s.args[0], expected);
        if (value.dtype().is_vector()) fail(s.at, "a vector cannot be broadcast");
        return broadcast(value, s.lanes);
      }
      default:
        return infix(s, expected);
    }
  }

  Expr of_type(const ExprSyntax& s, DType wanted, std::string_view what) const {
    Expr made = of(s, wanted);
    if (made.dtype().scalar() != wanted)
      fail(s.at, fmt::format("{} must be {}, not {}", what, wanted.str(), made.dtype().str()));
    return made;
  }

  Expr literal(const ExprSyntax& s, DType type) const {
    if (type.is_bool()) fail(s.at, fmt::format("'{}' is not true or false", s.text));
    if (type.is_float()) {
      const auto value = read_float(s.text, type);
      if (!value) fail(s.at, fmt::format("'{}' is not a number that {} has", s.text, type.str()));
      return float_imm(*value, type);
    }
    const auto value = read_integer(s.text, type);
    if (!value) fail(s.at, fmt::format("'{}' is not an integer that {} has", s.text, type.str()));
    return int_imm(*value, type);
  }

 private:
  [[noreturn]] void fail(TextPosition at, const std::string& message, std::string remedy = {}) const {
    throw UserError(SourceLocation{file_, at.line, at.column}, message, std::move(remedy));
  }

  Expr untyped_literal(const ExprSyntax& s, std::optional<DType> expected) const {
    if (s.natural) return bool_imm(s.text == "true");
    if (!expected) fail(s.at, fmt::format("cannot infer the type of {}", s.text), "write it as f32(1.0)");
    return literal(s, *expected);
  }

  Expr scalar_index(const ExprSyntax& s) const {
    Expr made = of_type(s, kIndex, "an operand of ramp");
    if (made.dtype().is_vector()) fail(s.at, "an operand of ramp is a scalar");
    return made;
  }

  /// Operands of one operation must have equal lanes.
  void check_lanes(const ExprSyntax& s, std::span<const Expr> operands) const {
    int lanes = 1;
    for (const Expr& operand : operands) {
      const int own = operand.dtype().lanes;
      if (own != 1 && lanes != 1 && own != lanes)
        fail(s.at, fmt::format("'{}' takes operands of {} and of {} lanes", s.text, lanes, own));
      lanes = std::max(lanes, own);
    }
  }

  void check_same(const ExprSyntax& s, const Expr& a, const Expr& b) const {
    if (a.dtype().scalar() != b.dtype().scalar()) {
      fail(s.at, fmt::format("'{}' takes operands of one type, not {} and {}", s.text,
                             a.dtype().scalar().str(), b.dtype().scalar().str()));
    }
    check_lanes(s, std::array{a, b});
  }

  static std::optional<DType> common_type(const ExprSyntax& s, std::optional<DType> expected) {
    for (const SyntaxPtr& arg : s.args) {
      if (arg->natural) return arg->natural;
    }
    return expected;
  }

  Expr selection(const ExprSyntax& s, std::optional<DType> expected) const {
    const auto type = s.natural ? s.natural : expected;
    const Expr condition = of_type(*s.args[0], kBool, "the condition of select");
    const Expr then_value = of(*s.args[1], type);
    const Expr else_value = of(*s.args[2], type);
    check_same(s, then_value, else_value);
    check_lanes(s, std::array{condition, then_value, else_value});
    return select(condition, then_value, else_value);
  }

  Expr conversion(const ExprSyntax& s) const {
    const ExprSyntax& from = *s.args[0];
    if (from.kind == ExprKind::IntImm && !from.natural)
      return broadcast(literal(from, s.type.scalar()), s.type.lanes);
    Expr value = of(from, std::nullopt);
    check_lanes(s, std::array{value, broadcast(Expr(0), s.type.lanes)});
    return cast(s.type, value);
  }

  Expr function(const ExprSyntax& s, std::optional<DType> expected) const {
    std::vector<Expr> operands;
    for (const SyntaxPtr& arg : s.args) operands.push_back(of(*arg, common_type(s, expected)));
    const DType type = operands[0].dtype();
    const bool good =
        is_bit_op(s.math) ? type.is_int() : type.is_float() || (s.math == MathOp::Abs && type.is_int());
    if (!good) {
      fail(s.args[0]->at,
           fmt::format("{} takes {}, not {}", s.text, is_bit_op(s.math) ? "integers" : "floats", type.str()));
    }
    if (operands.size() > 1) check_same(s, operands[0], operands[1]);
    return call(s.math, std::move(operands));
  }

  Expr access(const ExprSyntax& s) const {
    const size_t rank = s.args.size() - (s.masked ? 1 : 0);
    std::vector<Expr> indices;
    for (size_t i = 0; i < rank; ++i) indices.push_back(of_type(*s.args[i], kIndex, "an index"));
    Expr mask = s.masked ? of_type(*s.args[rank], kBool, "the condition of a load") : Expr();
    std::vector<Expr> all = indices;
    if (mask) all.push_back(mask);
    check_lanes(s, all);
    return load(s.buffer, std::move(indices), mask);
  }

  Expr infix(const ExprSyntax& s, std::optional<DType> expected) const {
    const bool logical = s.kind == ExprKind::And || s.kind == ExprKind::Or;
    const bool compares = is_comparison(s.kind);
    auto type = common_type(s, compares ? std::nullopt : expected);
    if (logical) type = kBool;
    const Expr a = of(*s.args[0], type);
    const Expr b = of(*s.args[1], type);
    check_same(s, a, b);
    check_operator(s, a.dtype().scalar(), b);
    return binary(s.kind, a, b);
  }

  void check_operator(const ExprSyntax& s, DType type, const Expr& right) const {
    const auto refuse = [&](std::string_view wanted) {
      fail(s.at, fmt::format("'{}' takes {}, not {}", s.text, wanted, type.str()));
    };
    switch (s.kind) {
      case ExprKind::And:
      case ExprKind::Or:
        if (!type.is_bool()) refuse("conditions");
        return;
      case ExprKind::Eq:
      case ExprKind::Ne:
        return;
      case ExprKind::FloorDiv:
      case ExprKind::FloorMod: {
        if (!type.is_int()) refuse("integers");
        const Expr& divisor = right.is(ExprKind::Broadcast) ? right.arg(0) : right;
        const IntImm* imm = divisor.as<IntImm>();
        if (type.is_index() && (imm == nullptr || imm->value <= 0))
          fail(s.at, fmt::format("an index is divided by '{}' by positive constants only", s.text));
        return;
      }
      case ExprKind::Div:
        if (type.is_index()) fail(s.at, "an index is divided by '//'");
        [[fallthrough]];
      default:
        if (type.is_bool()) refuse("numbers");
    }
  }

  const std::string& file_;
};

}  // namespace

Expr typed_expr(const ExprSyntax& syntax, std::optional<DType> expected, const std::string& file) {
  return Typer(file).of(syntax, expected);
}

Expr expr_of_type(const ExprSyntax& syntax, DType wanted, std::string_view what, const std::string& file) {
  return Typer(file).of_type(syntax, wanted, what);
}

}  // namespace tunesmith
