#include "workload/lexer.h"

#include <array>
#include <charconv>
#include <string_view>
#include <utility>

#include <fmt/format.h>

#include "workload/names.h"

namespace tunesmith::workload {

namespace {

bool is_digit(char c) { return c >= '0' && c <= '9'; }

// Longer symbols first.
constexpr std::array<std::string_view, 20> kSymbols = {"//", "<=", ">=", "==", "!=", "(", ")", "[", "]", ",",
                                                       "+",  "-",  "*",  "/",  "%",  "<", ">", "=", ":", "."};

/// Operators of other languages, and what to write instead.
constexpr std::array<std::pair<std::string_view, std::string_view>, 9> kForeign = {
    {{"**", "write pow(a, b)"},
     {"^", "write pow(a, b), or bit_xor(a, b)"},
     {"&", "write 'and', or bit_and(a, b)"},
     {"|", "write 'or', or bit_or(a, b)"},
     {"~", "write bit_not(a)"},
     {"<<", "write shift_left(a, b)"},
     {">>", "write shift_right(a, b)"},
     {"!", "write 'not'"},
     {"?", "write select(condition, a, b)"}}};

class Lexer {
 public:
  explicit Lexer(const YamlNode& scalar) : scalar_(scalar), text_(scalar.text) {}

  std::vector<Token> run() {
    while (at_ < text_.size()) step();
    add(TokenKind::End, 0).text = "end of text";
    return std::move(tokens_);
  }

 private:
  void step() {
    const char c = text_[at_];
    if (c == '\n') {
      line_begins_ = true;
      ++at_;
    } else if (c == ' ' || c == '\t' || c == '\r') {
      line_begins_ = false;
      ++at_;
    } else if (c == '#') {
      while (at_ < text_.size() && text_[at_] != '\n') ++at_;
    } else {
      if (line_begins_ && !tokens_.empty()) add(TokenKind::EndOfStatement, 0).text = "end of line";
      line_begins_ = false;
      word();
    }
  }

  void word() {
    if (is_letter(text_[at_])) {
      size_t end = at_;
      while (end < text_.size() && (is_letter(text_[end]) || is_digit(text_[end]))) ++end;
      add(TokenKind::Name, end - at_);
    } else if (is_digit(text_[at_])) {
      number();
    } else {
      symbol();
    }
  }

  void number() {
    size_t end = at_;
    bool real = false;
    while (end < text_.size() && is_digit(text_[end])) ++end;
    if (end < text_.size() && text_[end] == '.') {
      real = true;
      for (++end; end < text_.size() && is_digit(text_[end]);) ++end;
    }
    if (end < text_.size() && (text_[end] == 'e' || text_[end] == 'E')) {
      size_t exponent = end + 1;
      if (exponent < text_.size() && (text_[exponent] == '+' || text_[exponent] == '-')) ++exponent;
      if (exponent < text_.size() && is_digit(text_[exponent])) {
        real = true;
        for (end = exponent; end < text_.size() && is_digit(text_[end]);) ++end;
      }
    }
    if (end < text_.size() && is_letter(text_[end])) {
      throw UserError(scalar_.at(end), fmt::format("'{}' follows a number directly", text_[end]),
                      "a name begins with a letter; multiplication is written with '*'");
    }
    Token& token = add(real ? TokenKind::Real : TokenKind::Integer, end - at_);
    const char* first = token.text.data();
    const char* last = first + token.text.size();
    const std::errc code =
        real ? std::from_chars(first, last, token.real).ec : std::from_chars(first, last, token.integer).ec;
    if (code != std::errc{}) {
      throw UserError(scalar_.at(at_ - token.text.size()),
                      fmt::format("the number {} is out of range", token.text));
    }
  }

  void symbol() {
    const std::string_view rest = std::string_view(text_).substr(at_);
    if (!rest.starts_with("!=")) {
      for (const auto& [foreign, remedy] : kForeign) {
        if (rest.starts_with(foreign)) {
          throw UserError(scalar_.at(at_), fmt::format("'{}' is not an operator of the language", foreign),
                          std::string(remedy));
        }
      }
    }
    for (const std::string_view symbol : kSymbols) {
      if (rest.starts_with(symbol)) {
        add(TokenKind::Symbol, symbol.size());
        return;
      }
    }
    const auto c = static_cast<unsigned char>(rest[0]);
    throw UserError(
        scalar_.at(at_),
        c < 0x80 ? fmt::format("unexpected character '{}'", rest[0]) : std::string("unexpected character"),
        "expected a name, a number or an operator");
  }

  Token& add(TokenKind kind, size_t length) {
    Token token;
    token.kind = kind;
    token.text = text_.substr(at_, length);
    const SourceLocation location = scalar_.at(at_);
    token.place = {location.line, location.column};
    at_ += length;
    tokens_.push_back(std::move(token));
    return tokens_.back();
  }

  const YamlNode& scalar_;
  const std::string& text_;
  std::vector<Token> tokens_;
  size_t at_ = 0;
  bool line_begins_ = true;
};

}  // namespace

std::vector<Token> tokenize(const YamlNode& scalar) { return Lexer(scalar).run(); }

}  // namespace tunesmith::workload
