// Parses the expressions of a program's text, and resolves their names.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/expr_syntax.h"
#include "ir/text_form.h"

namespace tunesmith {

/// Recursive descent. The nesting of parentheses and the depth of expressions are limited, since programs are
/// traversed recursively.
class ExprParser : protected TextScanner {
 protected:
  using TextScanner::TextScanner;

  /// Reads an expression. `what` describes it in messages ("an index").
  Expr expression(DType wanted, std::string_view what);
  /// Reads an index without operators that bind weaker than a sum, such as a bound of a loop.
  Expr index_sum(std::string_view what);
  /// Reads a list of indices in brackets.
  std::vector<Expr> indices();
  /// Reads a value of the buffer's type.
  Expr value_for(const BufferNode& buffer);

  /// Reads a plain or quoted name.
  std::string any_name(std::string_view wanted);
  /// Reads a plain, dotted or quoted name.
  std::string dotted_name(std::string_view wanted);
  const Buffer& buffer_of(const std::string& name, Position at) const;
  int64_t integer_from(int64_t least, int64_t most, std::string_view wanted);
  /// Parses "f32", "bf16x32", "index"; nothing for another word.
  static std::optional<DType> type_of(std::string_view word);

  std::vector<std::pair<std::string, Var>> vars_;  // in scope, the innermost last
  std::unordered_map<std::string, Buffer> buffers_;

 private:
  void enter();
  SyntaxPtr conditional();
  SyntaxPtr syntax(Strength least);
  SyntaxPtr operand(Strength least);
  SyntaxPtr negative();
  SyntaxPtr primary();
  SyntaxPtr literal(std::string text, Position at) const;
  SyntaxPtr not_a_number(Position at);
  SyntaxPtr call(const std::string& word, Position at);
  SyntaxPtr access(const std::string& word, Position at);
  SyntaxPtr variable(const std::string& word, Position at) const;
  const InfixOperator* infix_here() const;
  SyntaxPtr join(const InfixOperator& op, Position at, SyntaxPtr left, SyntaxPtr right) const;
  SyntaxPtr node(ExprKind kind, std::string text, Position at) const;
  void adopt(ExprSyntax& parent, SyntaxPtr child) const;
  void arguments(ExprSyntax& parent, size_t count);

  int nesting_ = 0;
};

}  // namespace tunesmith
