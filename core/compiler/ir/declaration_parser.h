// The lines of a program's text, and the declarations on them: buffers and annotations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/expr_parser.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// More elements or bytes than any buffer has.
inline constexpr int64_t kMaxExtent = int64_t{1} << 56;

/// Indentation says what a line belongs to.
class DeclarationParser : protected ExprParser {
 protected:
  using ExprParser::ExprParser;

  /// To the first word of the next line that has one.
  void next_line();
  int indent() const { return here_.column; }
  void end_line();
  /// The colon behind what other lines belong to.
  void end_head();
  /// How far in the lines stand that belong to one at `outer`.
  int inner(int outer) const;
  /// Is there another line of those at `level`?
  bool more(int level) const;
  /// This word must be the next one.
  void word(std::string_view wanted);

  std::vector<Buffer> buffer_list();
  /// Its declaration, or its name alone where it was declared before.
  Buffer buffer();
  /// Those of what stands around, each on a line.
  Annotations annotations(int level);

  /// "[1, 2]"
  std::vector<int64_t> integers(int64_t least, std::string_view what);

 private:
  Buffer buffer_like(const std::string& name, DType type, std::vector<int64_t> shape);
  Swizzle swizzle();
  std::vector<Expr> extents(const std::vector<int64_t>& shape);
  void check_size(const std::vector<int64_t>& extents, DType type, Position at) const;
  void check_span(const std::vector<int64_t>& shape, const std::vector<int64_t>& strides, Position at) const;
  AnnotationValue annotation_value();
};

}  // namespace tunesmith
