#include "support/run_process.h"

#include <array>
#include <cerrno>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <spawn.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

using Clock = std::chrono::steady_clock;

class Pipe {
 public:
  Pipe() {
    if (pipe2(ends_.data(), O_CLOEXEC) != 0)
      throw EnvironmentError(fmt::format("pipe: {}", std::strerror(errno)));
  }
  ~Pipe() {
    close_write();
    close(ends_[0]);
  }
  Pipe(const Pipe&) = delete;
  Pipe& operator=(const Pipe&) = delete;

  int read_end() const { return ends_[0]; }
  int write_end() const { return ends_[1]; }
  void close_write() {
    if (ends_[1] >= 0) close(ends_[1]);
    ends_[1] = -1;
  }

 private:
  std::array<int, 2> ends_{-1, -1};
};

// What is ready of one stream; false at its end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 65536> part;
  const ssize_t count = read(descriptor, part.data(), part.size());
  if (count < 0) return errno == EINTR;
  text.append(part.data(), size_t(count));
  return count > 0;
}

pid_t start(const std::vector<std::string>& command, const Pipe& output, const Pipe& errors,
            int passed_descriptor) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  posix_spawn_file_actions_adddup2(&actions, output.write_end(), STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, errors.write_end(), STDERR_FILENO);
  if (passed_descriptor >= 0) posix_spawn_file_actions_adddup2(&actions, passed_descriptor, 3);
  posix_spawnattr_t attributes;
  posix_spawnattr_init(&attributes);
  // A group of its own, so that a compiler's children are killed with it.
  posix_spawnattr_setflags(&attributes, POSIX_SPAWN_SETPGROUP);
  std::vector<std::string> words = command;
  std::vector<char*> arguments;
  for (std::string& word : words) arguments.push_back(word.data());
  arguments.push_back(nullptr);
  pid_t process = -1;
  const int error =
      posix_spawn(&process, command.front().c_str(), &actions, &attributes, arguments.data(), environ);
  posix_spawnattr_destroy(&attributes);
  posix_spawn_file_actions_destroy(&actions);
  if (error != 0) throw EnvironmentError(fmt::format("{}: {}", command.front(), std::strerror(error)));
  return process;
}

double seconds_of(const timeval& time) { return double(time.tv_sec) + double(time.tv_usec) * 1e-6; }

}  // namespace

ProcessResult run_process(const std::vector<std::string>& command, double time_limit_seconds,
                          int passed_descriptor) {
  ProcessResult result;
  Pipe output, errors;
  const Clock::time_point begin = Clock::now();
  const auto elapsed = [&] { return std::chrono::duration<double>(Clock::now() - begin).count(); };
  const pid_t process = start(command, output, errors, passed_descriptor);
  output.close_write();
  errors.close_write();
  std::array<pollfd, 2> streams{pollfd{output.read_end(), POLLIN, 0}, pollfd{errors.read_end(), POLLIN, 0}};
  while (streams[0].fd >= 0 || streams[1].fd >= 0) {
    const double left = time_limit_seconds - elapsed();
    if (left <= 0) {
      result.timed_out = true;
      kill(-process, SIGKILL);
      break;
    }
    if (poll(streams.data(), streams.size(), int(left * 1000) + 1) < 0 && errno != EINTR)
      throw EnvironmentError(fmt::format("poll: {}", std::strerror(errno)));
    if (streams[0].revents != 0 && !read_some(streams[0].fd, result.output)) streams[0].fd = -1;
    if (streams[1].revents != 0 && !read_some(streams[1].fd, result.errors)) streams[1].fd = -1;
  }
  int status = 0;
  rusage usage{};
  while (wait4(process, &status, 0, &usage) < 0 && errno == EINTR) {
  }
  result.seconds = elapsed();
  result.cpu_seconds = seconds_of(usage.ru_utime) + seconds_of(usage.ru_stime);
  if (WIFEXITED(status)) result.exit_code = WEXITSTATUS(status);
  if (WIFSIGNALED(status)) result.signal = WTERMSIG(status);
  return result;
}

std::string find_in_path(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string file = (std::filesystem::path(folder) / name).string();
      if (access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return {};
}

}  // namespace tunesmith::cuda
