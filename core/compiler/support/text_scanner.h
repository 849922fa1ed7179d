// Scans words, numbers and strings of a text, with their locations.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <variant>

#include "tunesmith/support/error.h"

namespace tunesmith {

struct TextPosition {
  int line = 1;
  int column = 1;
};

/// Quotes and escapes a text for TextScanner.
std::string quoted_text(std::string_view text);

/// A letter or '_', then letters, digits and '_'.
bool is_name(std::string_view text);

/// Reads from left to right. Unexpected text is a UserError at
/// its location. Inside brackets (depth_ > 0) a line continues.
class TextScanner {
 public:
  /// Both must outlive the scanner.
  TextScanner(std::string_view text, const std::string& file) : text_(text), file_(file) {}

 protected:
  using Position = TextPosition;

  const std::string& file() const { return file_; }
  SourceLocation location(Position at) const { return {file_, at.line, at.column}; }
  [[noreturn]] void fail(Position at, const std::string& message, std::string remedy = {}) const;
  /// Fails at the current position with "expected X, found 'y'".
  [[noreturn]] void fail_expected(std::string_view wanted) const;
  bool at_end() const { return offset_ >= text_.size(); }
  char peek() const { return at_end() ? '\0' : text_[offset_]; }
  /// The text from the current position on.
  std::string_view rest() const { return text_.substr(offset_); }
  void advance();
  /// Skips blanks and comments.
  void skip_blank(bool across_lines);
  /// "'x'", "the end of the line", for messages.
  std::string what_is_here() const;

  /// Reads this character after blanks; expect() fails if it is another.
  void expect(char wanted, std::string_view where);
  bool take(char wanted);
  /// Reads `wanted` if it begins at the current position.
  bool take_text(std::string_view wanted);
  /// Is this word at the current position (word_here), or after blanks (at_word)? take_word() reads it.
  bool word_here(std::string_view wanted) const;
  bool at_word(std::string_view wanted);
  bool take_word(std::string_view wanted);
  /// Is `name =` next?
  bool is_keyword() const;

  std::string name(std::string_view wanted);
  int64_t integer(std::string_view wanted);
  /// An integer or a decimal.
  std::variant<int64_t, double> number();
  /// The text of a number in any notation: "-3", "1e+20", "0x7f".
  std::string_view number_text(std::string_view wanted);
  /// Reads a quoted string, beginning at the opening quote.
  std::string quoted();

  Position here_;
  int depth_ = 0;

 private:
  int64_t to_integer(std::string_view digits, Position at) const;

  std::string_view text_;
  const std::string& file_;
  size_t offset_ = 0;
};

}  // namespace tunesmith
