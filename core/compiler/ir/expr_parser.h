// The expressions of a program's text, and the names that they use.
#pragma once

#include <string>
#include <string_view>
#include <unordered_map>
#include <utility>
#include <vector>

#include "ir/expr_syntax.h"
#include "ir/text_form.h"

namespace tunesmith {

/// Recursive descent. Parentheses within each other, and the depth of an expression, are limited: whoever
/// works on a program walks it recursively.
class ExprParser : protected TextScanner {
 protected:
  using TextScanner::TextScanner;

  /// The expression that stands here. `what` is for messages ("an index").
  Expr expression(DType wanted, std::string_view what);
  /// The same without what binds weaker than a sum, as a loop's bounds are written.
  Expr index_sum(std::string_view what);
  /// From the opening bracket to the closing one.
  std::vector<Expr> indices();
  /// A value of the buffer's type.
  Expr value_for(const BufferNode& buffer);

  /// A plain word or one in quotation marks.
  std::string any_name(std::string_view wanted);
  /// The same, or words with dots between them.
  std::string dotted_name(std::string_view wanted);
  const Buffer& buffer_of(const std::string& name, Position at) const;
  int64_t integer_from(int64_t least, int64_t most, std::string_view wanted);
  /// "f32", "bf16x32", "index" stands in `word`; else nothing.
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
