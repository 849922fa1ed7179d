// Elements of the text form of programs that the printer and the parser share.
#pragma once

#include <string>
#include <string_view>

#include "tunesmith/ir/expr.h"

namespace tunesmith {

// Operator precedences, from a conditional, which always needs parentheses, to atoms, which never do.
enum Strength { kConditional, kOr, kAnd, kNot, kCompare, kSum, kProduct, kAtom };

struct InfixOperator {
  std::string_view symbol;
  ExprKind kind;
  Strength strength;
  bool swapped = false;  // the right operand is the first
};

/// Longer symbols first.
inline constexpr InfixOperator kInfixOperators[] = {
    {"or", ExprKind::Or, kOr},      {"and", ExprKind::And, kAnd},        {"==", ExprKind::Eq, kCompare},
    {"!=", ExprKind::Ne, kCompare}, {"<=", ExprKind::Le, kCompare},      {">=", ExprKind::Le, kCompare, true},
    {"<", ExprKind::Lt, kCompare},  {">", ExprKind::Lt, kCompare, true}, {"+", ExprKind::Add, kSum},
    {"-", ExprKind::Sub, kSum},     {"*", ExprKind::Mul, kProduct},      {"//", ExprKind::FloorDiv, kProduct},
    {"/", ExprKind::Div, kProduct}, {"%", ExprKind::FloorMod, kProduct},
};

/// Null for kinds that are not infix.
const InfixOperator* infix_operator(ExprKind kind);

/// The prefix of the bits, as f64, of a NaN other than the default one.
inline constexpr std::string_view kNanBits = "nan(0x";
/// The shortest text that parses as this number and not as an integer.
std::string float_text(double value, DType type);

/// Does the text of the expression determine its type, or does it consist of literals only?
bool says_type(const Expr& expr);

/// The text of a name: quoted if it is not a plain word or is a keyword.
std::string name_text(const std::string& name);
/// name_text() of a name that may have parts, such as "squad.x".
std::string dotted_text(const std::string& name);

}  // namespace tunesmith
