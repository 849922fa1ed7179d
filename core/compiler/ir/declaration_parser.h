// Parses the lines of a program's text, and declarations of buffers and annotations.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "ir/expr_parser.h"
#include "tunesmith/ir/stmt.h"

namespace tunesmith {

/// The limit of a buffer's elements and bytes.
inline constexpr int64_t kMaxExtent = int64_t{1} << 56;

/// Indentation nests lines.
class DeclarationParser : protected ExprParser {
 protected:
  using ExprParser::ExprParser;

  /// Advances to the first word of the next line that is not empty.
  void next_line();
  int indent() const { return here_.column; }
  void end_line();
  /// Reads the colon at the end of a line that has nested lines.
  void end_head();
  /// The indentation of the lines nested in a line with the indentation `outer`. Throws UserError if there
  /// are none.
  int inner(int outer) const;
  /// Is there another line with the indentation `level`?
  bool more(int level) const;
  /// Reads this word. Throws UserError if it is not next.
  void word(std::string_view wanted);

  std::vector<Buffer> buffer_list();
  /// A declaration, or just the name of a declared buffer.
  Buffer buffer();
  /// The annotations of the enclosing statement, one per line.
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
