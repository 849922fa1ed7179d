// Helpers for reading an extension's file. All throw UserError at the node.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tunesmith/support/yaml.h"

namespace tunesmith::extension {

[[noreturn]] void fail(const YamlNode& at, const std::string& message, const std::string& remedy = {});

/// The value of the key, which must exist and be of this kind.
const YamlNode& required(const YamlNode& node, const std::string& key, YamlNode::Kind kind);

const std::string& text_of(const YamlNode& node);
/// The texts of the list at the key.
std::vector<std::string> texts_of(const YamlNode& node, const std::string& key);
/// `what` describes it in the message.
double number_of(const YamlNode& node, const std::string& what);

/// From 1 to 999999999; nothing for any other text.
std::optional<int64_t> positive_integer(const std::string& text);

}  // namespace tunesmith::extension
