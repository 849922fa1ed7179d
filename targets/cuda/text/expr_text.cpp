#include "text/expr_text.h"

#include <algorithm>
#include <cmath>
#include <limits>

#include <fmt/format.h>

#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {
namespace {

// Operator precedence.
constexpr int kConditional = 1, kOr = 2, kAnd = 3, kEqual = 4, kLess = 5, kSum = 6, kProduct = 7, kUnary = 8;

std::string in_brackets(const std::string& text, int own, int outer) {
  return own < outer ? "(" + text + ")" : text;
}

bool is_half(DType type) { return type.is_float() && type.bits == 16; }

/// Integer data wrap around, which C++ guarantees for unsigned types only.
std::string unsigned_type(DType type) { return type.bits == 64 ? "unsigned long long" : "unsigned"; }

/// Is `condition` equal to `held` or one of its terms?
bool implies(const Expr& held, const Expr& condition) {
  if (held.is(ExprKind::And)) return implies(held.arg(0), condition) || implies(held.arg(1), condition);
  return equal(held, condition);
}

/// Does the last character close the bracket that the text begins with?
bool closes_at_end(std::string_view text) {
  int open = 0;
  for (size_t i = text.find('('); i < text.size(); ++i) {
    open += text[i] == '(' ? 1 : text[i] == ')' ? -1 : 0;
    if (open == 0) return i + 1 == text.size();
  }
  return false;
}

struct Helper {
  const char* name;
  const char* text;
};

// Templates, so that one definition serves all types.
constexpr Helper kHelpers[] = {
    {"lesser",
     "template <class T>\n__device__ __forceinline__ T lesser(T a, T b) { return a < b ? a : b; }\n"},
    {"greater",
     "template <class T>\n__device__ __forceinline__ T greater(T a, T b) { return a > b ? a : b; }\n"},
    // Rounds towards minus infinity. Never traps; the result of a division by zero is unspecified.
    {"floor_div",
     "template <class T>\n__device__ __forceinline__ T floor_div(T a, T b) {\n"
     "  if (b == 0) return 0;\n  if ((T(-1) < T(0) && b == T(-1))) return T(0ull - (unsigned long long)a);\n"
     "  return T(a / b - (a % b != 0 && (a % b < 0) != (b < 0)));\n}\n"},
    {"floor_mod",
     "template <class T>\n__device__ __forceinline__ T floor_mod(T a, T b) {\n"
     "  if (b == 0 || (T(-1) < T(0) && b == T(-1))) return 0;\n  T rest = T(a % b);\n"
     "  return rest != 0 && (rest < 0) != (b < 0) ? T(rest + b) : rest;\n}\n"},
    {"quotient",
     "template <class T>\n__device__ __forceinline__ T quotient(T a, T b) {\n"
     "  if (b == 0) return 0;\n  return (T(-1) < T(0) && b == T(-1)) ? T(0ull - (unsigned long long)a) : T(a "
     "/ b);\n}\n"},
    {"shift_left",
     "template <class T>\n__device__ __forceinline__ T shift_left(T a, T b) {\n"
     "  return b >= 0 && (unsigned long long)b < 8 * sizeof(T) ? T((unsigned long long)a << b) : T(0);\n}\n"},
    {"shift_right",
     "template <class T>\n__device__ __forceinline__ T shift_right(T a, T b) {\n"
     "  return b >= 0 && (unsigned long long)b < 8 * sizeof(T) ? T(a >> b) : T(a < 0 ? -1 : 0);\n}\n"},
    {"swizzled",
     "template <int bits, int to, int from>\n__device__ __forceinline__ int swizzled(int i) {\n"
     "  return i ^ (i >> from & ((1 << bits) - 1)) << to;\n}\n"},
    // Values out of range become the nearest value of the type, and NaN becomes 0.
    // `low` and `high` bound the range, `high` exclusive; both are representable in F.
    {"to_integer",
     "template <class T, class F>\n__device__ __forceinline__ T to_integer(F x, F low, F high, T least, T "
     "most) {\n"
     "  return x != x ? T(0) : x < low ? least : x >= high ? most : T(x);\n}\n"},
};

struct Ends {
  std::string low, high, least, most;
};

Ends ends_of(DType type) {
  if (type == kU8) return {"0", "256", "0", "255"};
  if (type == kI8) return {"-128", "128", "-128", "127"};
  if (type == kU16) return {"0", "65536", "0", "65535"};
  if (type == kI16) return {"-32768", "32768", "-32768", "32767"};
  if (type == kU32) return {"0", "4294967296.0", "0", "4294967295u"};
  if (type == kU64) return {"0", "18446744073709551616.0", "0", "18446744073709551615ull"};
  if (type.bits == 32) return {"-2147483648.0", "2147483648.0", "(-2147483647 - 1)", "2147483647"};
  return {"-9223372036854775808.0", "9223372036854775808.0", "(-9223372036854775807ll - 1)",
          "9223372036854775807ll"};
}

}  // namespace

std::string storage_type(DType type) {
  if (is_half(type)) return "half_t";
  return value_type(type);
}

std::string value_type(DType type) {
  if (type.is_index()) return "int";
  if (type.is_bool()) return "bool";
  if (type.is_float()) return type.bits == 64 ? "double" : "float";
  if (type == kU8) return "unsigned char";
  if (type == kI8) return "signed char";
  if (type.bits == 16) return type == kU16 ? "unsigned short" : "short";
  if (type.is_unsigned_int()) return type.bits == 64 ? "unsigned long long" : "unsigned";
  return type.bits == 64 ? "long long" : "int";
}

Names::Names()
    : used_{"int",      "float",     "double",     "char",        "bool",      "long",     "short",
            "unsigned", "signed",    "void",       "if",          "else",      "for",      "while",
            "do",       "return",    "const",      "static",      "extern",    "template", "class",
            "struct",   "union",     "new",        "delete",      "this",      "auto",     "register",
            "switch",   "case",      "default",    "break",       "continue",  "goto",     "true",
            "false",    "and",       "or",         "not",         "xor",       "min",      "max",
            "half_t",   "threadIdx", "blockIdx",   "blockDim",    "gridDim",   "warpSize", "lesser",
            "greater",  "floor_div", "shift_left", "shift_right", "floor_mod", "quotient", "to_integer",
            "swizzled", "exp",       "log",        "sqrt",        "pow",       "tanh",     "erf",
            "operator", "namespace", "using",      "try",         "catch",     "throw",    "inline",
            "volatile", "sizeof",    "typename",   "enum",        "friend",    "public",   "private",
            "float2",   "float4",    "double2",    "int2",        "int4",      "uint2",    "uint4",
            "short2",   "short4",    "ushort2",    "ushort4",     "char2",     "char4",    "uchar2",
            "uchar4",   "longlong2", "ulonglong2", "sin",         "cos",       "rint",     "rintf"} {}

std::string Names::fresh(const std::string& wanted) {
  std::string name;
  for (const char c : wanted) {
    const bool plain = (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z') || (c >= '0' && c <= '9') || c == '_';
    name += plain ? c : '_';
  }
  if (name.empty() || (name[0] >= '0' && name[0] <= '9')) name = "v" + name;
  // Names with two underscores are reserved for the implementation.
  for (size_t at = name.find("__"); at != std::string::npos; at = name.find("__")) name.erase(at, 1);
  if (name.starts_with('_')) name = "v" + name;
  std::string unique = name;
  for (int i = 1; !used_.insert(unique).second; ++i) unique = fmt::format("{}_{}", name, i);
  return unique;
}

const std::string& Names::of(const void* node) const {
  const auto found = names_.find(node);
  if (found == names_.end())
    throw InternalError("a kernel uses a variable or a buffer that it does not have");
  return found->second;
}

std::string ExprText::call(const std::string& helper, const std::string& arguments) {
  helpers_.insert(helper.substr(0, helper.find('<')));
  return helper + "(" + arguments + ")";
}

std::string helper_texts(const std::set<std::string>& helpers) {
  std::string text;
  for (const Helper& helper : kHelpers) {
    if (helpers.contains(helper.name)) text += helper.text;
  }
  return text;
}

std::string ExprText::rounded(DType type, std::string value) const {
  if (!is_half(type)) return value;
  const char* name = type == kBF16 ? "bf16" : "f16";
  return fmt::format("{0}_to_f32(f32_to_{0}({1}))", name, value);
}

std::string ExprText::stored(DType type, const std::string& value) const {
  if (!is_half(type)) return value;
  const std::string name = type == kBF16 ? "bf16" : "f16";
  // A widened value is stored in its original type.
  if (const std::string widened = name + "_to_f32("; value.starts_with(widened) && closes_at_end(value))
    return value.substr(widened.size(), value.size() - widened.size() - 1);
  return fmt::format("f32_to_{}({})", name, value);
}

std::string ExprText::value_of(DType type, const std::string& stored) const {
  if (type.is_bool()) return fmt::format("({} != 0)", stored);
  return is_half(type) ? fmt::format("{}_to_f32({})", type == kBF16 ? "bf16" : "f16", stored) : stored;
}

bool ExprText::holds(const Expr& condition) const {
  if (is_const_int(condition, 1)) return true;
  if (condition.is(ExprKind::And)) return holds(condition.arg(0)) && holds(condition.arg(1));
  return std::ranges::any_of(held_, [&](const Expr& held) { return implies(held, condition); });
}

std::string ExprText::number(const Expr& expr) const {
  if (const IntImm* integer = expr.as<IntImm>()) {
    if (expr.dtype().is_bool()) return integer->value != 0 ? "true" : "false";
    if (integer->value == std::numeric_limits<int64_t>::min()) return "(-9223372036854775807ll - 1)";
    if (integer->value == std::numeric_limits<int32_t>::min()) return "(-2147483647 - 1)";
    const DType type = expr.dtype();
    if (type.is_unsigned_int() && type.bits >= 32)
      return fmt::format("{}{}", static_cast<uint64_t>(integer->value), type.bits == 64 ? "ull" : "u");
    std::string text = fmt::format("{}{}", integer->value, type == kI64 ? "ll" : "");
    return integer->value < 0 ? "(" + text + ")" : text;
  }
  const double value = expr.as<FloatImm>()->value;
  const bool wide = expr.dtype().bits == 64;
  if (std::isnan(value)) return wide ? "(double)__int_as_float(0x7fc00000)" : "__int_as_float(0x7fc00000)";
  if (std::isinf(value)) {
    return fmt::format("{}{}__int_as_float(0x7f800000)", value < 0 ? "-" : "", wide ? "(double)" : "");
  }
  std::string text = wide ? fmt::format("{}", value) : fmt::format("{}", static_cast<float>(value));
  if (text.find_first_of(".e") == std::string::npos) text += ".0";
  if (!wide) text += "f";
  return std::signbit(value) ? "(" + text + ")" : text;
}

std::string ExprText::text(const Expr& expr, const Analyzer& ranges, int outer) {
  if (expr.dtype().lanes != 1) throw LowerError("cuda", "a program for threads has vectors", "");
  const auto binary = [&](const char* op, int own) {
    return in_brackets(
        fmt::format("{} {} {}", text(expr.arg(0), ranges, own), op, text(expr.arg(1), ranges, own + 1)), own,
        outer);
  };
  switch (expr.kind()) {
    case ExprKind::IntImm:
    case ExprKind::FloatImm:
      return number(expr);
    case ExprKind::Var:
      return names_.of(expr.as<VarNode>());
    case ExprKind::Add:
    case ExprKind::Sub:
    case ExprKind::Mul:
      return sum(expr, ranges, outer);
    case ExprKind::Div:
    case ExprKind::FloorDiv:
    case ExprKind::FloorMod:
      return quotient(expr, ranges, outer);
    case ExprKind::Min:
    case ExprKind::Max: {
      const std::string type = value_type(expr.dtype());
      return call((expr.is(ExprKind::Min) ? "lesser<" : "greater<") + type + ">",
                  text(expr.arg(0), ranges) + ", " + text(expr.arg(1), ranges));
    }
    case ExprKind::Eq:
      return binary("==", kEqual);
    case ExprKind::Ne:
      return binary("!=", kEqual);
    case ExprKind::Lt:
      return binary("<", kLess);
    case ExprKind::Le:
      return binary("<=", kLess);
    case ExprKind::And:
      return binary("&&", kAnd);
    case ExprKind::Or:
      return binary("||", kOr);
    case ExprKind::Not:
      return in_brackets("!" + text(expr.arg(0), ranges, kUnary), kUnary, outer);
    case ExprKind::Select:
      return selected(expr, ranges, outer);
    case ExprKind::Cast:
      return converted(expr, ranges);
    case ExprKind::Call:
      return function(expr, ranges);
    case ExprKind::Load:
      return loaded(expr, ranges, outer);
    case ExprKind::Ramp:
    case ExprKind::Broadcast:
      break;
  }
  throw LowerError("cuda", "a program for threads has vectors", "");
}

std::string ExprText::selected(const Expr& expr, const Analyzer& ranges, int outer) {
  const auto where = [&](const Expr& condition, size_t side, int own) {
    hold(condition);
    std::string chosen = text(expr.arg(side), ranges, own);
    release();
    return chosen;
  };
  const std::string condition = text(expr.arg(0), ranges, kConditional + 1);
  const std::string then_value = where(expr.arg(0), 1, kConditional + 1);
  return in_brackets(
      fmt::format("{} ? {} : {}", condition, then_value, where(logical_not(expr.arg(0)), 2, kConditional)),
      kConditional, outer);
}

std::string ExprText::sum(const Expr& expr, const Analyzer& ranges, int outer) {
  const DType type = expr.dtype();
  const char* op = expr.is(ExprKind::Add) ? "+" : expr.is(ExprKind::Sub) ? "-" : "*";
  const int own = expr.is(ExprKind::Mul) ? kProduct : kSum;
  if (type.is_index() || type.is_float()) {
    // Floats are added in the order written.
    std::string plain =
        fmt::format("{} {} {}", text(expr.arg(0), ranges, own), op, text(expr.arg(1), ranges, own + 1));
    if (is_half(type)) return rounded(type, std::move(plain));
    return in_brackets(plain, own, outer);
  }
  const std::string wraps = unsigned_type(type);
  return fmt::format("({})(({})({}) {} ({})({}))", value_type(type), wraps, text(expr.arg(0), ranges), op,
                     wraps, text(expr.arg(1), ranges));
}

std::string ExprText::quotient(const Expr& expr, const Analyzer& ranges, int outer) {
  const DType type = expr.dtype();
  const bool mod = expr.is(ExprKind::FloorMod);
  for (const auto& [remainder, variable] : named_) {
    if (mod && equal(remainder, expr)) return variable;
  }
  const auto plain = [&](const char* op) {
    return fmt::format("{} {} {}", text(expr.arg(0), ranges, kProduct), op,
                       text(expr.arg(1), ranges, kProduct + 1));
  };
  if (type.is_float()) {
    if (!expr.is(ExprKind::Div)) throw LowerError("cuda", "floats are divided without rounding down", "");
    if (is_half(type)) return rounded(type, plain("/"));
    return in_brackets(plain("/"), kProduct, outer);
  }
  if (type.is_index() && ranges.bounds(expr.arg(0)).min >= 0)
    return in_brackets(plain(mod ? "%" : "/"), kProduct, outer);
  const char* helper = mod ? "floor_mod" : expr.is(ExprKind::FloorDiv) ? "floor_div" : "quotient";
  return call(fmt::format("{}<{}>", helper, value_type(type)),
              text(expr.arg(0), ranges) + ", " + text(expr.arg(1), ranges));
}

std::string ExprText::converted(const Expr& expr, const Analyzer& ranges) {
  const DType to = expr.dtype();
  const DType from = expr.arg(0).dtype();
  const std::string value = text(expr.arg(0), ranges, kUnary);
  if (to.is_bool()) return fmt::format("({} != 0)", value);
  if (to.is_float()) return rounded(to, fmt::format("({}){}", value_type(to), value));
  if (!from.is_float()) return fmt::format("({}){}", value_type(to), value);
  const Ends ends = ends_of(to.is_index() ? kI32 : to);
  const std::string wide = value_type(from);
  return call(fmt::format("to_integer<{}, {}>", value_type(to), wide),
              fmt::format("{}, {}, {}, {}, {}", value, ends.low, ends.high, ends.least, ends.most));
}

/// Operators widen types narrower than int, which keeps the low bits.
std::string ExprText::bits(const Expr& expr, const Analyzer& ranges) {
  const std::string type = value_type(expr.dtype());
  const std::string a = text(expr.arg(0), ranges, kUnary), b = text(expr.arg(1), ranges, kUnary);
  switch (expr.as<CallNode>()->op) {
    case MathOp::BitAnd:
      return fmt::format("({})({} & {})", type, a, b);
    case MathOp::BitOr:
      return fmt::format("({})({} | {})", type, a, b);
    case MathOp::BitXor:
      return fmt::format("({})({} ^ {})", type, a, b);
    case MathOp::ShiftLeft:
      return call(fmt::format("shift_left<{}>", type), a + ", " + b);
    default:
      return call(fmt::format("shift_right<{}>", type), a + ", " + b);
  }
}

std::string ExprText::function(const Expr& expr, const Analyzer& ranges) {
  const DType type = expr.dtype();
  const MathOp op = expr.as<CallNode>()->op;
  std::string arguments;
  for (const Expr& arg : expr.args()) arguments += (arguments.empty() ? "" : ", ") + text(arg, ranges);
  const char* suffix = type.bits == 64 ? "" : "f";
  if (!type.is_float()) {
    if (is_bit_op(op)) return bits(expr, ranges);
    if (op != MathOp::Abs) throw LowerError("cuda", "a function of integers", std::string(math_op_name(op)));
    if (type.is_unsigned_int()) return arguments;
    const std::string wraps = unsigned_type(type);
    return fmt::format("({0} < 0 ? ({1})(0 - ({2}){0}) : {0})", "(" + arguments + ")", value_type(type),
                       wraps);
  }
  const auto named = [&](const char* name) {
    return rounded(type, fmt::format("{}{}({})", name, suffix, arguments));
  };
  switch (op) {
    case MathOp::Abs:
      return named("fabs");
    case MathOp::Rsqrt:
      return rounded(type, type.bits == 64 ? fmt::format("(1.0 / sqrt({}))", arguments)
                                           : fmt::format("rsqrtf({})", arguments));
    case MathOp::Sigmoid:
      return rounded(type, type.bits == 64 ? fmt::format("(1.0 / (1.0 + exp(-({}))))", arguments)
                                           : fmt::format("(1.0f / (1.0f + expf(-({}))))", arguments));
    case MathOp::RoundTf32:
      return rounded(type, fmt::format("round_tf32({})", arguments));
    case MathOp::RoundEven:
      return named("rint");
    case MathOp::Exp:
    case MathOp::Log:
    case MathOp::Tanh:
    case MathOp::Erf:
    case MathOp::Sqrt:
    case MathOp::Pow:
    case MathOp::Floor:
    case MathOp::Ceil:
    case MathOp::Sin:
    case MathOp::Cos:
      return named(std::string(math_op_name(op)).c_str());
    case MathOp::BitAnd:
    case MathOp::BitOr:
    case MathOp::BitXor:
    case MathOp::ShiftLeft:
    case MathOp::ShiftRight:
      break;
  }
  throw InternalError("a function of no name");
}

std::string ExprText::place(const Swizzle& swizzle, const std::string& index) {
  return call(fmt::format("swizzled<{}, {}, {}>", swizzle.bits, swizzle.to, swizzle.from), index);
}

std::string ExprText::element(const Buffer& buffer, const Expr& index, const Analyzer& ranges) {
  if (buffer->swizzle.bits == 0) return fmt::format("{}[{}]", name_of(buffer), text(index, ranges));
  Expr kept = 0;  // terms that do not change the swizzle pattern
  Expr rest = 0;
  std::vector<Expr> open{index};
  while (!open.empty()) {
    const Expr term = open.back();
    open.pop_back();
    if (term.is(ExprKind::Add)) {
      open.insert(open.end(), {term.arg(1), term.arg(0)});
    } else {
      Expr& part = ranges.can_prove_equal(floormod(term, buffer->swizzle.period()), 0) ? kept : rest;
      part = part + term;
    }
  }
  std::string where = place(buffer->swizzle, text(rest, ranges));
  if (!is_const_int(kept, 0)) where += " + " + text(kept, ranges, kSum);
  return fmt::format("{}[{}]", name_of(buffer), where);
}

std::string ExprText::loaded(const Expr& expr, const Analyzer& ranges, int outer) {
  const LoadNode& access = *expr.as<LoadNode>();
  const DType type = access.buffer->dtype;
  std::string value = element(access.buffer, access.indices()[0], ranges);
  if (is_half(type)) value = value_of(type, value);
  if (!access.mask() || holds(access.mask())) return value;
  return in_brackets(
      fmt::format("{} ? {} : ({})0", text(access.mask(), ranges, kConditional + 1), value, value_type(type)),
      kConditional, outer);
}

}  // namespace tunesmith::cuda
