// Reads JSON objects strictly: unknown, missing and duplicate keys and wrong types are errors that name the
// key.
#pragma once

#include <cstdint>
#include <filesystem>
#include <string>
#include <string_view>
#include <vector>

#include <nlohmann/json.hpp>

namespace tunesmith {

/// Throws UserError with line and column; a duplicate key is an error, too.
nlohmann::json parse_json(std::string_view text, const std::filesystem::path& file);

/// One object of a JSON file, and the name of its place for messages.
class JsonObject {
 public:
  /// Throws UserError if `value` is not an object or has a key that is not in `known`.
  JsonObject(const nlohmann::json& value, std::filesystem::path file, std::string place,
             const std::vector<std::string>& known);

  /// A string that is not empty.
  std::string text(const char* key) const;
  /// "" if the key is absent.
  std::string optional_text(const char* key) const;
  int64_t integer(const char* key) const;
  /// A list; empty if the key is absent and `required` is false.
  std::vector<nlohmann::json> list(const char* key, bool required) const;

  [[noreturn]] void fail(std::string_view key, const std::string& message) const;

 private:
  const nlohmann::json* find(const char* key) const;

  const nlohmann::json& value_;
  std::filesystem::path file_;
  std::string place_;
};

}  // namespace tunesmith
