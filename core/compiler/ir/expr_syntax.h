// Syntax trees of expressions: names are resolved, types of literals are not.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "support/text_scanner.h"
#include "tunesmith/ir/expr.h"

namespace tunesmith {

struct ExprSyntax;
using SyntaxPtr = std::unique_ptr<ExprSyntax>;

struct ExprSyntax {
  /// The kind of the expression. IntImm: a literal of any type. Negative numbers are literals; other
  /// negations are products with -1.
  ExprKind kind = ExprKind::IntImm;
  TextPosition at;
  std::string text;     // of a literal; for messages, the name of an operator or function
  MathOp math{};        // of a Call
  DType type;           // of a Cast
  int lanes = 1;        // of a Ramp or Broadcast
  Expr var;             // of a Var
  Buffer buffer;        // of a Load
  bool masked = false;  // of a Load: the last operand is its mask
  std::vector<SyntaxPtr> args;
  /// The scalar type that it determines; nothing for literals and expressions of literals only.
  std::optional<DType> natural;
  int depth = 1;
};

/// Resolves types; literals whose context determines no type have the type `expected`. Throws UserError at a
/// part that has no type, or one that its operator does not take.
Expr typed_expr(const ExprSyntax& syntax, std::optional<DType> expected, const std::string& file);
/// typed_expr() of the scalar type `wanted`. Throws UserError if it has another; `what` describes it in
/// messages ("an index").
Expr expr_of_type(const ExprSyntax& syntax, DType wanted, std::string_view what, const std::string& file);

}  // namespace tunesmith
