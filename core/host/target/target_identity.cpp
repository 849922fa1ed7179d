#include "tunesmith/target/target_identity.h"

#include <algorithm>
#include <charconv>
#include <utility>

#include <fmt/format.h>

#include "tunesmith/lower/version.h"
#include "tunesmith/target/target.h"

namespace tunesmith {
namespace {

constexpr std::string_view kWith = " with=";
constexpr std::string_view kNoExtensions = "none";

/// The fields between target and extensions, in text order.
constexpr std::pair<std::string_view, std::string TargetIdentity::*> kIdentityFields[] = {
    {" generator=", &TargetIdentity::generator},
    {" lowering=", &TargetIdentity::lowering},
    {" plugin=", &TargetIdentity::library}};

bool begins_field(std::string_view text) {
  const auto is_key = [&](const auto& field) { return text.starts_with(field.first); };
  return text.starts_with(kWith) || std::ranges::any_of(kIdentityFields, is_key);
}

template <typename Special>
std::string escaped(std::string_view value, const Special& is_special) {
  std::string text;
  for (size_t i = 0; i < value.size(); ++i)
    text += is_special(value.substr(i)) ? fmt::format("%{:02X}", static_cast<unsigned char>(value[i]))
                                        : std::string(1, value[i]);
  return text;
}

std::string escaped_value(std::string_view value) {
  return escaped(value, [](std::string_view rest) { return rest.front() == '%' || begins_field(rest); });
}

std::string escaped_word(std::string_view word) {
  return escaped(word, [](std::string_view rest) { return rest.find_first_of("% ,:") == 0; });
}

std::string unescaped(std::string_view text) {
  std::string value;
  for (size_t i = 0; i < text.size(); ++i) {
    unsigned char letter = 0;
    const bool is_escape =
        text[i] == '%' && i + 2 < text.size() &&
        std::from_chars(text.data() + i + 1, text.data() + i + 3, letter, 16).ptr == text.data() + i + 3;
    value += is_escape ? static_cast<char>(letter) : text[i];
    if (is_escape) i += 2;
  }
  return value;
}

/// Removes and returns the text of `rest` before the next field.
std::string_view take_value(std::string_view& rest) {
  size_t end = 0;
  while (end < rest.size() && !begins_field(rest.substr(end))) ++end;
  return std::exchange(rest, rest.substr(end)).substr(0, end);
}

std::vector<ExtensionIdentity> read_extensions(std::string_view list) {
  std::vector<ExtensionIdentity> extensions;
  while (!list.empty() && list != kNoExtensions) {
    const std::string_view one = list.substr(0, list.find(','));
    const std::string_view name = one.substr(0, one.find(':'));
    const std::string_view content = one.substr(std::min(one.size(), name.size() + 1));
    extensions.push_back({unescaped(name), unescaped(content)});
    list.remove_prefix(std::min(list.size(), one.size() + 1));
  }
  return extensions;
}

}  // namespace

TargetIdentity TargetIdentity::of(const Target& target) {
  return {target.identity(), target.fingerprint(), fmt::format("{}", kLoweringVersion), ""};
}

std::string TargetIdentity::str() const {
  std::string text = escaped_value(target);
  for (const auto& [key, value] : kIdentityFields) {
    if (!(this->*value).empty()) text += fmt::format("{}{}", key, escaped_value(this->*value));
  }
  if (!extensions) return text;
  text += kWith;
  for (const ExtensionIdentity& one : *extensions) {
    if (&one != extensions->data()) text += ',';
    text += fmt::format("{}:{}", escaped_word(one.name), escaped_word(one.content));
  }
  if (extensions->empty()) text += kNoExtensions;
  return text;
}

TargetIdentity TargetIdentity::parse(std::string_view text) {
  std::string_view rest = text;
  TargetIdentity identity;
  identity.target = unescaped(take_value(rest));
  for (const auto& [key, value] : kIdentityFields) {
    if (!rest.starts_with(key)) continue;
    rest.remove_prefix(key.size());
    identity.*value = unescaped(take_value(rest));
  }
  if (rest.starts_with(kWith)) {
    rest.remove_prefix(kWith.size());
    identity.extensions = read_extensions(take_value(rest));
  }
  if (rest.empty() && identity.str() == text) return identity;
  TargetIdentity other;
  other.target = text;
  return other;
}

bool same_but_extensions(std::string_view one, std::string_view other) {
  TargetIdentity first = TargetIdentity::parse(one), second = TargetIdentity::parse(other);
  first.extensions.reset();
  second.extensions.reset();
  return first == second;
}

}  // namespace tunesmith
