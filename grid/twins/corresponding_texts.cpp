#include "twins/corresponding_texts.h"

#include <cctype>
#include <charconv>
#include <optional>

namespace tunesmith {
namespace {

bool is_digit(char c) { return std::isdigit(static_cast<unsigned char>(c)) != 0; }
bool is_word(char c) { return std::isalnum(static_cast<unsigned char>(c)) != 0 || c == '_'; }

/// The word, the number with its sign of exponent and suffix, or the one sign that `text` begins with.
std::string_view first_token(std::string_view text) {
  if (!is_word(text.front())) return text.substr(0, 1);
  const bool number = is_digit(text.front());
  size_t end = 1;
  while (end < text.size() && (is_word(text[end]) || (number && text[end] == '.') ||
                               (number && (text[end] == '-' || text[end] == '+') && text[end - 1] == 'e')))
    ++end;
  return text.substr(0, end);
}

template <typename Number>
struct Parsed {
  Number value;
  std::string_view suffix;
};

template <typename Number>
std::optional<Parsed<Number>> parse(std::string_view token) {
  Parsed<Number> parsed{};
  const auto [end, error] = std::from_chars(token.data(), token.data() + token.size(), parsed.value);
  if (error != std::errc{}) return std::nullopt;
  parsed.suffix = token.substr(static_cast<size_t>(end - token.data()));
  return parsed;
}

bool numbers_correspond(std::string_view full, std::string_view smaller, const ExtentSubstitution& extents) {
  const auto whole = parse<int64_t>(full);
  const auto other = parse<int64_t>(smaller);
  if (!whole || !other) return false;
  const bool floating = whole->suffix.find_first_of(".e") != std::string_view::npos;
  if (!floating) return whole->suffix == other->suffix && extents.shifts(whole->value, other->value);
  const auto number = parse<double>(full);
  const auto other_number = parse<double>(smaller);
  return number && other_number && number->suffix == other_number->suffix &&
         extents.is_extent(number->value, other_number->value);
}

}  // namespace

bool texts_correspond(std::string_view full, std::string_view smaller, const ExtentSubstitution& extents) {
  bool hint = false;
  while (!full.empty() && !smaller.empty()) {
    const std::string_view wanted = first_token(full);
    const std::string_view found = first_token(smaller);
    full.remove_prefix(wanted.size());
    smaller.remove_prefix(found.size());
    hint = wanted == "pragma" || (hint && wanted != "\n");
    if (wanted == found) continue;
    const bool numbers = is_digit(wanted.front()) && is_digit(found.front());
    if (!numbers || (!hint && !numbers_correspond(wanted, found, extents))) return false;
  }
  return full.empty() && smaller.empty();
}

}  // namespace tunesmith
