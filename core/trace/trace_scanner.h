// Words, numbers and strings of a trace's text, with their places.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "tunesmith/support/error.h"
#include "tunesmith/trace/instruction.h"

namespace tunesmith {

/// Reads from left to right. What does not fit is a UserError at its place. Inside brackets (depth_ > 0) a
/// line continues.
class TraceScanner {
 public:
  /// Both must outlive the scanner.
  TraceScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

 protected:
  struct Position {
    int line = 1;
    int column = 1;
  };

  SourceLocation location(Position at) const { return {file_, at.line, at.column}; }
  [[noreturn]] void fail(Position at, const std::string& message, std::string remedy = {}) const;
  bool at_end() const { return offset_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[offset_]; }
  void advance();
  /// Skips blanks and comments.
  void skip_blank(bool across_lines);
  /// "'x'", "the end of the line", for messages.
  std::string what_is_here() const;

  /// The next character, after blanks, must be / may be this one.
  void expect(char wanted, std::string_view where);
  bool take(char wanted);
  /// Does the text stand exactly here? Then it is read.
  bool take_text(std::string_view wanted);
  /// Does `name =` stand here?
  bool is_keyword() const;

  std::string name(std::string_view wanted);
  int64_t integer(std::string_view wanted);
  /// An integer or a decimal.
  Arg number();
  /// From its opening quote on.
  std::string quoted();

  Position here_;
  int depth_ = 0;

 private:
  std::string_view number_text(std::string_view wanted);
  int64_t to_integer(std::string_view digits, Position at) const;

  std::string_view text_;
  const std::string& file_;
  size_t offset_ = 0;
};

}  // namespace tunesmith
