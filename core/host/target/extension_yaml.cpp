#include "target/extension_yaml.h"

#include <charconv>
#include <cmath>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::extension {

void fail(const YamlNode& at, const std::string& message, const std::string& remedy) {
  throw UserError(at.location, message, remedy);
}

const YamlNode& required(const YamlNode& node, const std::string& key, YamlNode::Kind kind) {
  const YamlNode* value = node.find(key);
  if (value == nullptr) fail(node, fmt::format("expected the key '{}'", key));
  if (value->kind != kind) {
    fail(*value,
         fmt::format("{}: expected {}, found {}", key, yaml_kind_name(kind), yaml_kind_name(value->kind)));
  }
  return *value;
}

const std::string& text_of(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Scalar)
    fail(node, fmt::format("expected a value, found {}", yaml_kind_name(node.kind)));
  return node.text;
}

std::vector<std::string> texts_of(const YamlNode& node, const std::string& key) {
  std::vector<std::string> texts;
  for (const YamlNode& item : required(node, key, YamlNode::Kind::Sequence).items)
    texts.push_back(text_of(item));
  return texts;
}

double number_of(const YamlNode& node, const std::string& what) {
  const std::string& text = text_of(node);
  double value = 0.0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || !std::isfinite(value))
    fail(node, fmt::format("{}: expected a number, found '{}'", what, text));
  return value;
}

std::optional<int64_t> positive_integer(const std::string& text) {
  int64_t value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  if (error != std::errc() || end != text.data() + text.size() || value < 1 || value > 999999999)
    return std::nullopt;
  return value;
}

}  // namespace tunesmith::extension
