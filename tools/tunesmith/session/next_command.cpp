#include "next_command.h"

#include <string_view>

#include <fmt/format.h>

namespace tunesmith::cli {

std::string shell_word(const std::string& text) {
  constexpr std::string_view kPlain =
      "abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789_-./:=,+@%";
  if (!text.empty() && text.find_first_not_of(kPlain) == std::string::npos) return text;
  std::string result = "'";
  for (const char c : text) result += c == '\'' ? std::string("'\\''") : std::string(1, c);
  return result + "'";
}

std::string spoken_command(const std::vector<std::string>& words) {
  std::string command = "tunesmith";
  for (const std::string& word : words) command += " " + shell_word(word);
  return command;
}

std::vector<std::string> with_same_place(std::vector<std::string> words, const Common& common,
                                         const std::string& database, int threads) {
  const auto add = [&](const char* option, const std::string& value) {
    if (value.empty()) return;
    words.emplace_back(option);
    words.push_back(value);
  };
  for (const std::string& path : common.plugin_paths) add("--plugin-path", path);
  add("--locked", common.lock_file);
  add("--spaces", common.spaces_file);
  add("--space", common.space);
  add("--threads", threads > 0 ? std::to_string(threads) : "");
  add("--database", database);
  return words;
}

std::string build_there(const Common& common, const std::string& database) {
  return fmt::format(
      "{}; on a machine of the workers' identity import that file and build",
      spoken_command(with_same_place({"records", "export", "-o", "records.jsonl"}, common, database, 0)));
}

}  // namespace tunesmith::cli
