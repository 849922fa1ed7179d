#include "target/extension_variants.h"

#include <fmt/format.h>

#include "target/extension_yaml.h"

namespace tunesmith::extension {
namespace {

/// The maximum per file, including all substitutions: each variant becomes an intrinsic.
constexpr size_t kMaxVariants = 256;
constexpr size_t kMaxText = size_t{1} << 18;

void refuse_many(const YamlNode& node, size_t variants) {
  if (variants > kMaxVariants) fail(node, fmt::format("variants: more than {} of them", kMaxVariants));
}

std::vector<Variant> read_choice(const YamlNode& node) {
  if (node.kind != YamlNode::Kind::Sequence) fail(node, "variants: expected a list of mappings");
  std::vector<Variant> variants;
  for (const YamlNode& item : node.items) {
    if (item.kind != YamlNode::Kind::Map) fail(item, "variants: expected a list of mappings");
    Variant& variant = variants.emplace_back();
    for (const YamlEntry& entry : item.entries) variant[entry.key] = text_of(entry.value);
  }
  refuse_many(node, variants.size());
  return variants;
}

}  // namespace

bool has_several_lists(const YamlNode& variants) {
  return !variants.items.empty() && variants.items.front().kind == YamlNode::Kind::Sequence;
}

std::vector<Variant> read_variants(const YamlNode& owner) {
  if (owner.find("variants") == nullptr) return {Variant()};
  const YamlNode& lists = required(owner, "variants", YamlNode::Kind::Sequence);
  if (!has_several_lists(lists)) return read_choice(lists);
  std::vector<Variant> variants{Variant()};
  for (const YamlNode& list : lists.items) {
    std::vector<Variant> longer;
    const std::vector<Variant> choices = read_choice(list);
    refuse_many(list, variants.size() * choices.size());
    for (const Variant& variant : variants) {
      for (Variant choice : choices) {
        for (const auto& [key, text] : choice) {
          if (variant.contains(key)) fail(list, fmt::format("variants: two lists have the key '{}'", key));
        }
        choice.insert(variant.begin(), variant.end());
        longer.push_back(std::move(choice));
      }
    }
    variants = std::move(longer);
  }
  return variants;
}

void put_in(YamlNode& node, const Variant& variant) {
  for (const auto& [key, text] : variant) {
    const std::string wanted = "$" + key;
    for (size_t at = node.text.find(wanted); at != std::string::npos;
         at = node.text.find(wanted, at + text.size())) {
      node.text.replace(at, wanted.size(), text);
      if (node.text.size() > kMaxText)
        fail(node, fmt::format("larger than {} bytes with its variants' values", kMaxText));
    }
  }
  for (YamlNode& item : node.items) put_in(item, variant);
  for (YamlEntry& entry : node.entries) put_in(entry.value, variant);
}

}  // namespace tunesmith::extension
