// An expression as it was written: names are found, types of literals are not.
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
  /// What it becomes. IntImm: a literal of whatever type. Negative numbers are literals; other negations are
  /// products with -1.
  ExprKind kind = ExprKind::IntImm;
  TextPosition at;
  std::string text;     // of a literal; of an operator or a function its name, for messages
  MathOp math{};        // of a Call
  DType type;           // of a Cast
  int lanes = 1;        // of a Ramp or Broadcast
  Expr var;             // of a Var
  Buffer buffer;        // of a Load
  bool masked = false;  // of a Load: the last operand is its mask
  std::vector<SyntaxPtr> args;
  /// The scalar type that it says itself; nothing for literals and what is made of them alone.
  std::optional<DType> natural;
  int depth = 1;
};

/// With `expected` as the type of literals where the text around says none. Throws UserError at the place of
/// what has no type, or another one than its operator takes.
Expr typed_expr(const ExprSyntax& syntax, std::optional<DType> expected, const std::string& file);
/// The same, which must then be of the scalar type `wanted`; `what` is for messages ("an index").
Expr expr_of_type(const ExprSyntax& syntax, DType wanted, std::string_view what, const std::string& file);

}  // namespace tunesmith
