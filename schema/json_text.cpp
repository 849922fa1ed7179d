#include "tunesmith/schema/json_text.h"

#include <charconv>
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tunesmith/schema/limits.h"
#include "tunesmith/support/hash.h"

namespace tunesmith {

using nlohmann::json;

namespace {

/// A value for which `fits` holds; otherwise the error `refused`.
template <typename Fits>
tl::expected<json, std::string> parse(std::string_view text, const Fits& fits, const char* refused) {
  bool too_deep = false;
  // Refused while it is read. Once it is too deep, nothing more is kept.
  const auto look = [&](int depth, json::parse_event_t event, json&) {
    const bool begins =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    too_deep = too_deep || (begins && depth >= kMaxNesting);
    return !too_deep;
  };
  json value = json::parse(text, look, false);
  if (too_deep) return tl::make_unexpected(fmt::format("is nested more than {} deep", kMaxNesting));
  if (!fits(value)) return tl::make_unexpected(std::string(refused));
  return value;
}

}  // namespace

tl::expected<json, std::string> parse_value(std::string_view text) {
  return parse(text, [](const json& value) { return !value.is_discarded(); }, "is no JSON");
}

tl::expected<json, std::string> parse_object(std::string_view text) {
  return parse(text, [](const json& value) { return value.is_object(); }, "is no JSON object");
}

std::string canonical_text(const json& value) {
  return value.dump(-1, ' ', false, json::error_handler_t::replace);
}

std::string json_checksum(std::string_view canonical) { return sha256_hex(canonical).substr(0, 16); }

std::optional<uint64_t> hash_of_digits(std::string_view digits) {
  uint64_t hash = 0;
  const char* const first = std::to_address(digits.begin());
  const char* const last = std::to_address(digits.end());
  const auto [read, error] = std::from_chars(first, last, hash, 16);
  if (error != std::errc{} || read != last || digits.size() != 16) return std::nullopt;
  return hash;
}

}  // namespace tunesmith
