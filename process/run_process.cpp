#include "tunesmith/process/run_process.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <sstream>

#include <fcntl.h>
#include <fmt/format.h>
#include <poll.h>
#include <unistd.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// For one call of poll(), in milliseconds.
constexpr double kMaxPoll = 1e6;

/// Reads available data; false at the end.
bool read_some(int descriptor, std::string& text) {
  std::array<char, 65536> part;
  const ssize_t count = read(descriptor, part.data(), part.size());
  if (count < 0) return errno == EINTR;
  text.append(part.data(), static_cast<size_t>(count));
  return count > 0;
}

}  // namespace

Pipe::Pipe() {
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0)
    throw EnvironmentError(fmt::format("a pipe cannot be made: {}", std::strerror(errno)));
  read_ = ends[0];
  write_ = ends[1];
}

Pipe::~Pipe() {
  close_write();
  close(read_);
}

void Pipe::close_write() {
  if (write_ >= 0) close(write_);
  write_ = -1;
}

Collected collect(ChildProcess& process, std::span<const int> descriptors, double seconds) {
  const auto begin = std::chrono::steady_clock::now();
  const auto left = [&] {
    return seconds - std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
  };
  Collected collected;
  collected.texts.resize(descriptors.size());
  std::vector<pollfd> streams;
  for (const int descriptor : descriptors) streams.push_back({descriptor, POLLIN, 0});
  const auto is_open = [](const pollfd& stream) { return stream.fd >= 0; };
  while (std::ranges::any_of(streams, is_open) && left() > 0) {
    const double wait = std::min(left() * 1000 + 1, kMaxPoll);
    if (poll(streams.data(), streams.size(), static_cast<int>(wait)) < 0 && errno != EINTR)
      throw EnvironmentError(fmt::format("a process cannot be waited for: {}", std::strerror(errno)));
    for (size_t i = 0; i < streams.size(); ++i) {
      if (streams[i].revents != 0 && !read_some(streams[i].fd, collected.texts[i])) streams[i].fd = -1;
      streams[i].revents = 0;
    }
  }
  collected.end = process.wait(left());
  return collected;
}

ProcessResult run_process(const std::vector<std::string>& command, const RunOptions& options) {
  Pipe output, errors;
  ProcessSetup setup;
  setup.output = output.write_end();
  setup.errors = options.errors == RunOptions::Errors::Inherited    ? STDERR_FILENO
                 : options.errors == RunOptions::Errors::WithOutput ? output.write_end()
                                                                    : errors.write_end();
  setup.passed = options.passed;
  setup.own_group = options.own_group;
  ChildProcess process(command, setup);
  output.close_write();
  errors.close_write();
  const std::array<int, 2> ends{output.read_end(), errors.read_end()};
  Collected collected = collect(process, ends, options.seconds);
  return {collected.end, std::move(collected.texts[0]), std::move(collected.texts[1])};
}

std::string find_in_path(const std::vector<std::string>& names) {
  const char* path = std::getenv("PATH");
  for (const std::string& name : names) {
    std::istringstream folders(path == nullptr ? "" : path);
    for (std::string folder; std::getline(folders, folder, ':');) {
      const std::string file = (std::filesystem::path(folder) / name).string();
      if (!folder.empty() && access(file.c_str(), X_OK) == 0) return file;
    }
  }
  return {};
}

}  // namespace tunesmith
