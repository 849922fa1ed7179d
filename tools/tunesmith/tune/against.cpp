#include "against.h"

#include <array>
#include <cstdlib>
#include <string_view>
#include <vector>

#include <fcntl.h>
#include <fmt/format.h>
#include <nlohmann/json.hpp>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

namespace tunesmith::cli {
namespace {

/// That has the package, as `python -m tunesmith` says of itself.
std::string python() {
  const char* const named = std::getenv("TUNESMITH_PYTHON");
  return named != nullptr && *named != '\0' ? named : "python3";
}

/// What a process of it prints; "" where it cannot be started.
std::string printed_by(std::vector<std::string> words) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) throw EnvironmentError("no pipe can be had");
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, ends[1], STDOUT_FILENO);
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = 0;
  const int error =
      posix_spawnp(&process, words.front().c_str(), &actions, nullptr, arguments.data(), environ);
  posix_spawn_file_actions_destroy(&actions);
  close(ends[1]);
  std::string text;
  std::array<char, 4096> part{};
  for (ssize_t count = 0; error == 0 && (count = read(ends[0], part.data(), part.size())) > 0;)
    text.append(part.data(), static_cast<size_t>(count));
  close(ends[0]);
  int status = 0;
  if (error == 0) waitpid(process, &status, 0);
  return text;
}

nlohmann::json ask(const std::string& library, std::vector<std::string> options) {
  std::vector<std::string> words{python(), "-m", "tunesmith.against", library};
  words.insert(words.end(), options.begin(), options.end());
  nlohmann::json answer = nlohmann::json::parse(printed_by(words), nullptr, false);
  if (!answer.is_object()) {
    throw EnvironmentError(
        fmt::format("--against calls libraries from Python, and '{}' does not run the package tunesmith: "
                    "`pip install .` in a clone (docs/python.md), or name another Python in TUNESMITH_PYTHON",
                    words.front()));
  }
  if (answer.contains("error"))
    throw UserError(SourceLocation{"--against"}, answer.at("error").get<std::string>());
  return answer;
}

}  // namespace

void require_against(const std::string& library, const std::string& workload) {
  ask(library, {"--check", workload});
}

nlohmann::json time_against(const Common& common, const TuneArguments& arguments, const TuneResult& result) {
  std::vector<std::string> options{
      "--record", result.best_id,           "--database", database_path(arguments.database),
      "--spaces", find_spaces_file(common), "--space",    result.best_space};
  for (const std::string& path : common.plugin_paths) options.insert(options.end(), {"--plugin-path", path});
  return ask(arguments.against, std::move(options));
}

}  // namespace tunesmith::cli
