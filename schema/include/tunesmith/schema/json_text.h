// JSON as text, of messages and lines: read with a limit to what nests, and written in one form only.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <nlohmann/json_fwd.hpp>
#include <tl/expected.hpp>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Any value, or what is wrong: "is no JSON", "is nested more than 16 deep". To read what others wrote: a
/// value is copied, printed and compared by recursion.
tl::expected<nlohmann::json, std::string> parse_value(std::string_view text);
/// The same of an object; what is none "is no JSON object".
tl::expected<nlohmann::json, std::string> parse_object(std::string_view text);

/// Keys sorted, no spaces. What is not UTF-8 is replaced: a compiler's message may hold any byte.
std::string canonical_text(const nlohmann::json& value);

/// The first 64 bits of the SHA-256 of canonical text, in hexadecimal.
std::string json_checksum(std::string_view canonical);

/// Nothing unless `digits` are 16 hexadecimal ones.
std::optional<uint64_t> hash_of_digits(std::string_view digits);

}  // namespace tunesmith
#pragma GCC visibility pop
