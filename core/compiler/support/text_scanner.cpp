#include "support/text_scanner.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

bool begins_name(char c) { return std::isalpha(static_cast<unsigned char>(c)) != 0 || c == '_'; }
bool continues_name(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

}  // namespace

std::string quoted_text(std::string_view text) {
  std::string out = "\"";
  for (const char c : text) {
    switch (c) {
      case '"':
        out += "\\\"";
        break;
      case '\\':
        out += "\\\\";
        break;
      case '\n':
        out += "\\n";
        break;
      case '\t':
        out += "\\t";
        break;
      default:
        if (static_cast<unsigned char>(c) < 0x20 || c == 0x7f) {
          out += fmt::format("\\x{:02x}", static_cast<unsigned char>(c));
        } else {
          out += c;
        }
    }
  }
  return out + "\"";
}

bool is_name(std::string_view text) {
  return !text.empty() && begins_name(text[0]) && std::all_of(text.begin(), text.end(), continues_name);
}

bool TextScanner::take_text(std::string_view wanted) {
  if (text_.substr(offset_, wanted.size()) != wanted) return false;
  for (size_t i = 0; i < wanted.size(); ++i) advance();
  return true;
}

void TextScanner::fail(Position at, const std::string& message, std::string remedy) const {
  throw UserError(location(at), message, std::move(remedy));
}

void TextScanner::fail_expected(std::string_view wanted) const {
  fail(here_, fmt::format("expected {}, found {}", wanted, what_is_here()));
}

void TextScanner::advance() {
  if (text_[offset_] == '\n') {
    ++here_.line;
    here_.column = 1;
  } else {
    ++here_.column;
  }
  ++offset_;
}

void TextScanner::skip_blank(bool across_lines) {
  while (!at_end()) {
    const char c = peek();
    if (c == '#') {
      while (!at_end() && peek() != '\n') advance();
    } else if (c == ' ' || c == '\t' || c == '\r' || (c == '\n' && across_lines)) {
      advance();
    } else {
      return;
    }
  }
}

std::string TextScanner::what_is_here() const {
  if (at_end()) return "the end of the text";
  if (peek() == '\n') return "the end of the line";
  const auto c = static_cast<unsigned char>(peek());
  return std::isprint(c) != 0 ? fmt::format("'{}'", peek()) : fmt::format("the byte 0x{:02x}", c);
}

void TextScanner::expect(char wanted, std::string_view where) {
  skip_blank(depth_ > 0);
  if (peek() != wanted || at_end()) fail_expected(fmt::format("'{}' {}", wanted, where));
  advance();
}

bool TextScanner::take(char wanted) {
  skip_blank(depth_ > 0);
  if (at_end() || peek() != wanted) return false;
  advance();
  return true;
}

bool TextScanner::word_here(std::string_view wanted) const {
  const std::string_view text = rest();
  return text.starts_with(wanted) && (text.size() == wanted.size() || !continues_name(text[wanted.size()]));
}

bool TextScanner::at_word(std::string_view wanted) {
  skip_blank(depth_ > 0);
  return word_here(wanted);
}

bool TextScanner::take_word(std::string_view wanted) { return at_word(wanted) && take_text(wanted); }

std::string TextScanner::name(std::string_view wanted) {
  skip_blank(depth_ > 0);
  if (at_end() || !begins_name(peek())) fail_expected(wanted);
  const size_t begin = offset_;
  while (!at_end() && continues_name(peek())) advance();
  return std::string(text_.substr(begin, offset_ - begin));
}

std::string_view TextScanner::number_text(std::string_view wanted) {
  skip_blank(depth_ > 0);
  const size_t begin = offset_;
  if (peek() == '-') advance();
  if (at_end() || std::isdigit(static_cast<unsigned char>(peek())) == 0) fail_expected(wanted);
  while (!at_end()) {
    const char c = peek();
    const bool exponent_sign =
        (c == '-' || c == '+') && (text_[offset_ - 1] == 'e' || text_[offset_ - 1] == 'E');
    const bool point = c == '.' && !rest().starts_with("..");  // the dots of a range are no decimal point
    if (!continues_name(c) && !point && !exponent_sign) break;
    advance();
  }
  return text_.substr(begin, offset_ - begin);
}

int64_t TextScanner::to_integer(std::string_view digits, Position at) const {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), value);
  if (error == std::errc::result_out_of_range) fail(at, fmt::format("{} does not fit 64 bits", digits));
  if (error != std::errc() || end != digits.data() + digits.size()) {
    fail(at, fmt::format("'{}' is not an integer", digits));
  }
  return value;
}

int64_t TextScanner::integer(std::string_view wanted) {
  skip_blank(depth_ > 0);
  const Position at = here_;
  return to_integer(number_text(wanted), at);
}

std::variant<int64_t, double> TextScanner::number() {
  const Position at = here_;
  const std::string_view text = number_text("a number");
  if (text.find_first_of(".eE") == std::string_view::npos) return to_integer(text, at);
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size()) {
    fail(at, fmt::format("'{}' is not a representable number", text));
  }
  return value;
}

std::string TextScanner::quoted() {
  const Position begin = here_;
  advance();
  std::string value;
  while (true) {
    if (at_end() || peek() == '\n')
      fail(begin, "the string is not closed", "end it with '\"' on the same line");
    const char c = peek();
    const Position at = here_;
    advance();
    if (c == '"') return value;
    if (c != '\\') {
      value += c;
      continue;
    }
    const char escape = peek();
    if (!at_end()) advance();
    switch (escape) {
      case '"':
        value += '"';
        break;
      case '\\':
        value += '\\';
        break;
      case 'n':
        value += '\n';
        break;
      case 't':
        value += '\t';
        break;
      case 'x': {
        unsigned code = 0;
        const std::string_view digits = text_.substr(offset_, 2);
        const auto [end, error] = std::from_chars(digits.data(), digits.data() + digits.size(), code, 16);
        if (error != std::errc() || digits.size() != 2 || end != digits.data() + 2) {
          fail(at, "\\x needs two hexadecimal digits");
        }
        advance();
        advance();
        value += static_cast<char>(code);
        break;
      }
      default:
        fail(at, "unknown escape in a string", R"(known: \" \\ \n \t \xNN)");
    }
  }
}

bool TextScanner::is_keyword() const {
  size_t at = offset_;
  if (at >= text_.size() || !begins_name(text_[at])) return false;
  while (at < text_.size() && continues_name(text_[at])) ++at;
  while (at < text_.size() && (text_[at] == ' ' || text_[at] == '\t')) ++at;
  return at < text_.size() && text_[at] == '=';
}

}  // namespace tunesmith
