#include "ir/text_form.h"

#include <algorithm>
#include <bit>
#include <cmath>
#include <iterator>
#include <limits>

#include <fmt/format.h>

#include "support/text_scanner.h"

namespace tunesmith {
namespace {

/// Keywords: not allowed as names.
constexpr std::string_view kWords[] = {
    "program", "intermediate", "annotate", "for",        "block",    "where",   "init",    "if",
    "else",    "alloc",        "barrier",  "async",      "handover", "produce", "consume", "pass",
    "and",     "or",           "not",      "true",       "false",    "inf",     "nan",     "again",
    "at",      "constant",     "strides",  "async_wait", "swizzle",
};

bool is_word(std::string_view name) {
  return std::find(std::begin(kWords), std::end(kWords), name) != std::end(kWords);
}

}  // namespace

const InfixOperator* infix_operator(ExprKind kind) {
  const auto* found = std::find_if(std::begin(kInfixOperators), std::end(kInfixOperators),
                                   [&](const InfixOperator& op) { return op.kind == kind && !op.swapped; });
  return found == std::end(kInfixOperators) ? nullptr : found;
}

std::string float_text(double value, DType type) {
  if (std::isnan(value)) {
    const auto bits = std::bit_cast<uint64_t>(value);
    const bool usual = bits == std::bit_cast<uint64_t>(std::numeric_limits<double>::quiet_NaN());
    return usual ? "nan" : fmt::format("{}{:x})", kNanBits, bits);
  }
  std::string text =
      type.bits == 64 ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".en") == std::string::npos) text += ".0";
  return text;
}

bool says_type(const Expr& expr) {
  switch (expr.kind()) {
    case ExprKind::IntImm:
      return expr.dtype().is_bool();
    case ExprKind::FloatImm:
      return false;
    case ExprKind::Select:
      return says_type(expr.arg(1)) || says_type(expr.arg(2));
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
    case ExprKind::Div:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
    case ExprKind::Min:
    case ExprKind::Max:
    case ExprKind::Call:
    case ExprKind::Broadcast:
      return std::any_of(expr.args().begin(), expr.args().end(), says_type);
    default:
      return true;
  }
}

std::string name_text(const std::string& name) {
  return is_name(name) && !is_word(name) ? name : quoted_text(name);
}

std::string dotted_text(const std::string& name) {
  std::string_view left = name;
  for (size_t dot = left.find('.'); dot != std::string_view::npos; dot = left.find('.')) {
    if (!is_name(left.substr(0, dot))) return quoted_text(name);
    left.remove_prefix(dot + 1);
  }
  return is_name(left) && !is_word(name) ? name : quoted_text(name);
}

}  // namespace tunesmith
