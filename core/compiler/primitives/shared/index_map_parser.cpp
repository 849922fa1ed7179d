#include "primitives/shared/index_map_parser.h"

#include <algorithm>
#include <cctype>
#include <charconv>

#include <fmt/format.h>

#include "tunesmith/analysis/schedule_error.h"

namespace tunesmith {
namespace {

/// The maximum number of names, numbers and brackets, which limits nesting and length. A map of all loops of
/// a block has some dozens.
constexpr int kMaxParts = 256;
/// The part of the text that a message quotes.
constexpr size_t kQuotedText = 1000;

class Parser {
 public:
  Parser(std::string_view text, std::string_view primitive) : text_(text), primitive_(primitive) {}

  IndexMap parse() {
    IndexMap map;
    const bool parameters = accept("(");
    do {
      const std::string name = identifier();
      if (find(map, name) != nullptr) fail(fmt::format("a parameter not named before, not '{}'", name));
      map.params.emplace_back(name);
    } while (accept(","));
    if (parameters) expect(")");
    expect("->");
    // A parenthesis may open the list or its first expression: tries the list first.
    const size_t start = position_;
    if (accept("(") && list(map, &map.results) && accept(")") && at_end()) return map;
    position_ = start;
    parts_ = static_cast<int>(map.params.size());
    map.results.clear();
    if (!list(map, &map.results) || !at_end()) fail("the end of the map");
    return map;
  }

 private:
  static const Var* find(const IndexMap& map, std::string_view name) {
    const auto found =
        std::find_if(map.params.begin(), map.params.end(), [&](const Var& var) { return var->name == name; });
    return found == map.params.end() ? nullptr : &*found;
  }

  bool list(const IndexMap& map, std::vector<Expr>* results) {
    do results->push_back(sum(map));
    while (accept(","));
    return true;
  }

  Expr sum(const IndexMap& map) {
    Expr value = product(map);
    while (true) {
      if (accept("+")) {
        value = value + product(map);
      } else if (!looking_at("->") && accept("-")) {
        value = value - product(map);
      } else {
        return value;
      }
    }
  }

  Expr product(const IndexMap& map) {
    Expr value = atom(map);
    while (true) {
      if (accept("*")) {
        value = scaled(value, atom(map));
      } else if (accept("//")) {
        value = floordiv(value, divisor(map));
      } else if (accept("%")) {
        value = floormod(value, divisor(map));
      } else {
        return value;
      }
    }
  }

  Expr scaled(const Expr& a, const Expr& b) {
    int64_t constant = 0;
    if (!as_const_int(a, &constant) && !as_const_int(b, &constant)) fail("a constant factor");
    return as_const_int(a, &constant) ? b * a : a * b;
  }

  Expr divisor(const IndexMap& map) {
    const Expr value = atom(map);
    int64_t constant = 0;
    if (!as_const_int(value, &constant) || constant <= 0) fail("a positive constant divisor");
    return value;
  }

  void count_part() {
    if (++parts_ > kMaxParts) fail(fmt::format("at most {} names, numbers and brackets", kMaxParts));
  }

  Expr atom(const IndexMap& map) {
    if (looking_at("(")) count_part();
    if (accept("(")) {
      Expr value = sum(map);
      expect(")");
      return value;
    }
    skip_space();
    int64_t number = 0;
    const char* begin = text_.data() + position_;
    const auto [end, error] = std::from_chars(begin, text_.data() + text_.size(), number);
    if (error == std::errc() && *begin != '-') {
      if (number > (int64_t{1} << 40)) fail("a constant up to 2^40");
      count_part();
      position_ += static_cast<size_t>(end - begin);
      return number;
    }
    const size_t start = position_;
    const std::string name = identifier();
    if (const Var* var = find(map, name)) return *var;
    position_ = start;
    fail("a number or a parameter of the map");
  }

  std::string identifier() {
    count_part();
    skip_space();
    size_t end = position_;
    const auto is_word = [](char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; };
    while (end < text_.size() && is_word(text_[end])) ++end;
    if (end == position_ || std::isdigit(static_cast<unsigned char>(text_[position_])) != 0) fail("a name");
    std::string name(text_.substr(position_, end - position_));
    position_ = end;
    return name;
  }

  void skip_space() {
    while (position_ < text_.size() && std::isspace(static_cast<unsigned char>(text_[position_])) != 0)
      ++position_;
  }
  bool at_end() {
    skip_space();
    return position_ == text_.size();
  }
  bool looking_at(std::string_view token) {
    skip_space();
    return text_.substr(position_, token.size()) == token;
  }
  bool accept(std::string_view token) {
    if (!looking_at(token)) return false;
    position_ += token.size();
    return true;
  }
  void expect(std::string_view token) {
    if (!accept(token)) fail(fmt::format("'{}'", token));
  }
  [[noreturn]] void fail(std::string_view expected) {
    const bool long_text = text_.size() > kQuotedText;
    throw ScheduleError(primitive_, "the index map cannot be read",
                        fmt::format("'{}{}', column {}: expected {}", text_.substr(0, kQuotedText),
                                    long_text ? "..." : "", position_ + 1, expected));
  }

  std::string_view text_;
  std::string_view primitive_;
  size_t position_ = 0;
  int parts_ = 0;
};

}  // namespace

IndexMap parse_index_map(std::string_view text, std::string_view primitive) {
  return Parser(text, primitive).parse();
}

}  // namespace tunesmith
