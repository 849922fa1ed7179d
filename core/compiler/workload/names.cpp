#include "workload/names.h"

#include <algorithm>
#include <array>

#include "tunesmith/ir/dtype.h"

namespace tunesmith::workload {

namespace {
constexpr std::array kMathOps = {MathOp::Exp,     MathOp::Log,       MathOp::Tanh,       MathOp::Erf,
                                 MathOp::Sqrt,    MathOp::Rsqrt,     MathOp::Pow,        MathOp::Abs,
                                 MathOp::Sigmoid, MathOp::Floor,     MathOp::Ceil,       MathOp::RoundTf32,
                                 MathOp::Sin,     MathOp::Cos,       MathOp::BitAnd,     MathOp::BitOr,
                                 MathOp::BitXor,  MathOp::ShiftLeft, MathOp::ShiftRight, MathOp::RoundEven};
constexpr std::array<std::string_view, 6> kWords = {"and", "or", "not", "inf", "true", "false"};
}  // namespace

bool is_identifier(std::string_view name) {
  if (name.empty() || name.size() > 64 || !is_letter(name[0])) return false;
  return std::all_of(name.begin(), name.end(), [](char c) { return is_letter(c) || (c >= '0' && c <= '9'); });
}

bool is_reserved(std::string_view name) {
  const auto& functions = function_names();
  return std::find(functions.begin(), functions.end(), name) != functions.end() ||
         std::find(kWords.begin(), kWords.end(), name) != kWords.end() || DType::parse(name).has_value();
}

const std::vector<std::string>& function_names() {
  static const std::vector<std::string> names = [] {
    std::vector<std::string> all = {"sum",    "argmax", "argmin", "prod",    "max",         "min", "select",
                                    "inside", "relu",   "lowest", "highest", "accumulator", "at",  "bit_not"};
    for (const MathOp op : kMathOps) all.emplace_back(math_op_name(op));
    return all;
  }();
  return names;
}

std::optional<MathOp> parse_math_op(std::string_view name) {
  const auto found =
      std::find_if(kMathOps.begin(), kMathOps.end(), [name](MathOp op) { return math_op_name(op) == name; });
  if (found == kMathOps.end()) return std::nullopt;
  return *found;
}

}  // namespace tunesmith::workload
