// What the text of programs is made of, for who prints it and who reads it.
#pragma once

#include <string>
#include <string_view>

#include "tunesmith/ir/expr.h"

namespace tunesmith {

// Binding strengths, from a conditional, which needs parentheses everywhere, to what never does.
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

/// Before the bits, as f64, of a NaN that is not the usual one.
inline constexpr std::string_view kNanBits = "nan(0x";
/// The shortest text that reads back as the number, and not as an integer.
std::string float_text(double value, DType type);

/// Does the text of the expression say its type, or is it of literals alone?
bool says_type(const Expr& expr);

/// A name as the text has it: in quotation marks where it is no plain word, or a word of the language.
std::string name_text(const std::string& name);
/// The same of what may have parts, "squad.x".
std::string dotted_text(const std::string& name);

}  // namespace tunesmith
