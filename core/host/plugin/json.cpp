#include "plugin/json.h"

#include <algorithm>
#include <set>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith {

using nlohmann::json;

namespace {

/// Nested objects and lists.
constexpr int kDeepestNesting = 16;

SourceLocation location_of_byte(std::string_view text, size_t byte, const std::filesystem::path& file) {
  const std::string_view before = text.substr(0, byte > 0 ? byte - 1 : 0);
  const auto line = std::ranges::count(before, '\n') + 1;
  const size_t newline = before.rfind('\n');
  const size_t column = before.size() - (newline == std::string_view::npos ? 0 : newline + 1) + 1;
  return {file.string(), static_cast<int>(line), static_cast<int>(column)};
}

/// The library's message without its own name and location.
std::string behind(std::string_view said, std::string_view mark) {
  return std::string(said.substr(said.find(mark) + mark.size()));
}

}  // namespace

json parse_json(std::string_view text, const std::filesystem::path& file) {
  std::vector<std::set<std::string>> keys;
  const auto refuse = [&](int depth, json::parse_event_t event, json& parsed) {
    const bool begins =
        event == json::parse_event_t::object_start || event == json::parse_event_t::array_start;
    if (begins && depth >= kDeepestNesting)
      throw UserError({file.string()}, fmt::format("nested more than {} deep", kDeepestNesting));
    if (event == json::parse_event_t::object_start) keys.emplace_back();
    if (event == json::parse_event_t::object_end) keys.pop_back();
    if (event == json::parse_event_t::key && !keys.back().insert(parsed.get<std::string>()).second) {
      throw UserError({file.string()}, fmt::format("duplicate key '{}'", parsed.get<std::string>()));
    }
    return true;
  };
  try {
    return json::parse(text, refuse);
  } catch (const json::parse_error& error) {
    throw UserError(location_of_byte(text, error.byte, file), "not JSON", behind(error.what(), ": "));
  } catch (const json::out_of_range& error) {  // no type holds the number
    throw UserError({file.string()}, "not JSON", behind(error.what(), "] "));
  }
}

JsonObject::JsonObject(const json& value, std::filesystem::path file, std::string place,
                       const std::vector<std::string>& known)
    : value_(value), file_(std::move(file)), place_(std::move(place)) {
  if (!value.is_object()) {
    throw UserError({file_.string()},
                    fmt::format("{}expected an object", place_.empty() ? "" : place_ + ": "));
  }
  for (const auto& [key, unused] : value.items()) {
    if (std::ranges::find(known, key) == known.end()) fail(key, "unknown key; " + suggest(key, known));
  }
}

const json* JsonObject::find(const char* key) const {
  const auto found = value_.find(key);
  return found == value_.end() ? nullptr : &*found;
}

void JsonObject::fail(std::string_view key, const std::string& message) const {
  throw UserError({file_.string()},
                  fmt::format("{}{}{}: {}", place_, place_.empty() ? "" : ".", key, message));
}

std::string JsonObject::text(const char* key) const {
  std::string value = optional_text(key);
  if (value.empty()) fail(key, find(key) == nullptr ? "is missing" : "is empty");
  return value;
}

std::string JsonObject::optional_text(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) return {};
  if (!value->is_string()) fail(key, fmt::format("expected a string, got {}", value->type_name()));
  return value->get<std::string>();
}

int64_t JsonObject::integer(const char* key) const {
  const json* value = find(key);
  if (value == nullptr) fail(key, "is missing");
  if (!value->is_number_integer()) fail(key, fmt::format("expected an integer, got {}", value->type_name()));
  return value->get<int64_t>();
}

std::vector<json> JsonObject::list(const char* key, bool required) const {
  const json* value = find(key);
  if (value == nullptr && required) fail(key, "is missing");
  if (value == nullptr) return {};
  if (!value->is_array()) fail(key, fmt::format("expected a list, got {}", value->type_name()));
  return {value->begin(), value->end()};
}

}  // namespace tunesmith
