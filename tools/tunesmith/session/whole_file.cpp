#include "whole_file.h"

#include <array>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

namespace tunesmith::cli {

std::string read_whole_file(const std::filesystem::path& path, int64_t most) {
  const auto refusal = [&](int error) {
    return UserError(SourceLocation{path.string()}, fmt::format("cannot be read: {}", std::strerror(error)));
  };
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC);
  if (file < 0) throw refusal(errno);
  std::string bytes;
  std::array<char, 1 << 16> piece{};
  ssize_t got = 0;
  while (std::ssize(bytes) <= most && (got = ::read(file, piece.data(), piece.size())) != 0) {
    if (got < 0 && errno == EINTR) continue;
    if (got < 0) break;
    bytes.append(piece.data(), static_cast<size_t>(got));
  }
  const int error = got < 0 ? errno : 0;
  ::close(file);
  if (error != 0) throw refusal(error);
  if (std::ssize(bytes) > most)
    throw UserError(SourceLocation{path.string()}, fmt::format("has more than {} bytes", most));
  return bytes;
}

std::ifstream open_lines(const std::filesystem::path& path) {
  std::error_code unknown;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw UserError(SourceLocation{path.string()}, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (std::filesystem::is_directory(path, unknown))
    throw UserError(SourceLocation{path.string()}, fmt::format("cannot be read: {}", std::strerror(EISDIR)));
  return file;
}

}  // namespace tunesmith::cli
