// JSON text of messages and lines: read with limited nesting, and written in canonical form.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Any value, or the problem: "is no JSON", "is nested more than 16 deep".
/// For untrusted text: values are copied, printed and compared recursively.
tl::expected<nlohmann::json, std::string> parse_value(std::string_view text);
/// The same for an object; other values give "is no JSON object".
tl::expected<nlohmann::json, std::string> parse_object(std::string_view text);

/// Sorted keys, no spaces. Invalid UTF-8 is replaced: a compiler's message may contain any bytes.
std::string canonical_text(const nlohmann::json& value);

/// The first 64 bits of the SHA-256 of canonical text, as hexadecimal digits.
std::string json_checksum(std::string_view canonical);

/// Nothing unless `digits` has 16 hexadecimal digits.
std::optional<uint64_t> hash_of_digits(std::string_view digits);

}  // namespace tunesmith
#pragma GCC visibility pop
