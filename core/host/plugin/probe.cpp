#include <algorithm>
#include <array>
#include <cerrno>
#include <csignal>
#include <cstdio>
#include <cstring>
#include <span>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/wait.h>
#include <unistd.h>

#include "plugin/loader.h"
#include "tunesmith/support/read_to_end.h"

namespace tunesmith {

namespace {

constexpr int kRefused = 4;  // exit code of a child that has said why

[[noreturn]] void load_in_child(const PluginInfo& plugin, const PluginLock* lock, int output, int seconds) {
  dup2(output, STDOUT_FILENO);
  dup2(output, STDERR_FILENO);
  signal(SIGALRM, SIG_DFL);
  alarm(static_cast<unsigned>(seconds));
  try {
    load_plugin(plugin, lock);
  } catch (const Error& error) {
    const ssize_t written = write(output, error.what(), std::strlen(error.what()));
    _exit(written > 0 ? kRefused : kRefused + 1);
  }
  _exit(0);
}

/// Writes a line of help for each of the plugins; an empty one where it is refused.
[[noreturn]] void read_help_in_child(std::span<const PluginInfo> plugins, const PluginLock* lock,
                                     int output) {
  // What plugins print is no line of help.
  const int nowhere = open("/dev/null", O_WRONLY | O_CLOEXEC);
  dup2(nowhere, STDOUT_FILENO);
  dup2(nowhere, STDERR_FILENO);
  signal(SIGALRM, SIG_DFL);
  for (const PluginInfo& plugin : plugins) {
    constexpr int kSeconds = 10;
    alarm(kSeconds);
    std::string line;
    try {
      const LoadedPlugin loaded = load_plugin(plugin, lock);
      line = loaded.help();
    } catch (const Error&) {
      line.clear();  // `plugins list --why` says why
    }
    std::ranges::replace(line, '\n', ' ');
    line += '\n';
    if (write(output, line.data(), line.size()) != static_cast<ssize_t>(line.size())) _exit(1);
  }
  _exit(0);
}

}  // namespace

std::vector<std::string> help_lines_of(const std::vector<PluginInfo>& plugins, const PluginLock* lock) {
  std::vector<std::string> lines;
  while (lines.size() < plugins.size()) {
    const std::span<const PluginInfo> rest = std::span(plugins).subspan(lines.size());
    std::array<int, 2> ends{};
    if (pipe2(ends.data(), O_CLOEXEC) != 0)
      throw EnvironmentError(fmt::format("a pipe cannot be made: {}", std::strerror(errno)));
    std::fflush(nullptr);  // what is buffered is written once
    const pid_t child = fork();
    if (child == 0) read_help_in_child(rest, lock, ends[1]);
    close(ends[1]);
    const std::string text = child > 0 ? read_to_end(ends[0]) : std::string{};
    close(ends[0]);
    if (child < 0)
      throw EnvironmentError(fmt::format("a process cannot be started: {}", std::strerror(errno)));
    while (waitpid(child, nullptr, 0) < 0 && errno == EINTR) {
    }
    std::istringstream answered(text);
    for (std::string line; std::getline(answered, line);) lines.push_back(line);
    if (lines.size() < plugins.size()) lines.emplace_back();  // it ended the process
  }
  return lines;
}

std::string probe_plugin(const PluginInfo& plugin, const PluginLock* lock, int seconds) {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw EnvironmentError(fmt::format("a pipe cannot be made: {}", std::strerror(errno)));
  }
  std::fflush(nullptr);
  const pid_t child = fork();
  if (child == 0) load_in_child(plugin, lock, ends[1], seconds);
  close(ends[1]);
  if (child < 0) {
    close(ends[0]);
    throw EnvironmentError(fmt::format("a process cannot be started: {}", std::strerror(errno)));
  }
  std::string said = read_to_end(ends[0]);
  close(ends[0]);
  int status = 0;
  while (waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  const auto refused = [&](const std::string& why) {
    return fmt::format("{}: {} is refused: [P12] {}", plugin_name(plugin.kind, plugin.id),
                       plugin.library.string(), why);
  };
  if (WIFSIGNALED(status) && WTERMSIG(status) == SIGALRM) {
    return refused(fmt::format("loading it did not end within {} seconds", seconds));
  }
  if (WIFSIGNALED(status))
    return refused(fmt::format("loading it ended by: {}", strsignal(WTERMSIG(status))));
  if (WEXITSTATUS(status) == 0) return {};
  if (WEXITSTATUS(status) == kRefused) return said;
  // The dynamic linker ends a process whose library is damaged; initialisers may, too.
  while (!said.empty() && said.back() == '\n') said.pop_back();
  return refused(fmt::format("loading it ended the process with exit code {}{}{}", WEXITSTATUS(status),
                             said.empty() ? "" : ": ", said));
}

}  // namespace tunesmith
