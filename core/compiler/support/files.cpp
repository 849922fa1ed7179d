#include "tunesmith/support/files.h"

#include <array>
#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <utility>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/unique_id.h"

namespace tunesmith {

namespace fs = std::filesystem;

std::string read_whole_file(const fs::path& path, int64_t most) {
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

std::ifstream open_lines(const fs::path& path) {
  std::error_code unknown;
  std::ifstream file(path, std::ios::binary);
  if (!file)
    throw UserError(SourceLocation{path.string()}, fmt::format("cannot be read: {}", std::strerror(errno)));
  if (fs::is_directory(path, unknown))
    throw UserError(SourceLocation{path.string()}, fmt::format("cannot be read: {}", std::strerror(EISDIR)));
  return file;
}

OutputFile::OutputFile(fs::path path, const std::vector<fs::path>& inputs) : path_(std::move(path)) {
  std::error_code ignored;
  for (const fs::path& input : inputs) {
    if (fs::equivalent(path_, input, ignored))
      throw UserError(SourceLocation{path_.string()}, "it is an input and would be overwritten",
                      "give another file for the output");
  }
  const fs::file_status status = fs::symlink_status(path_, ignored);
  if (!fs::exists(status) || fs::is_regular_file(status))
    part_ = fmt::format("{}.{}", path_.string(), make_id());
  stream_.open(part_.empty() ? path_ : part_, std::ios::binary);
  if (!stream_) throw EnvironmentError(fmt::format("{}: cannot be written", path_.string()));
}

OutputFile::~OutputFile() {
  std::error_code ignored;
  if (!part_.empty()) fs::remove(part_, ignored);
}

void OutputFile::commit() {
  stream_.close();
  std::error_code failed;
  if (stream_ && !part_.empty()) fs::rename(part_, path_, failed);
  if (!stream_ || failed) throw EnvironmentError(fmt::format("{}: cannot be written", path_.string()));
  part_.clear();
}

void write_whole_file(const fs::path& path, std::string_view bytes) {
  OutputFile file(path);
  file.stream().write(bytes.data(), static_cast<std::streamsize>(bytes.size()));
  file.commit();
}

void require_folder_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw UserError(SourceLocation{file.string()}, fmt::format("no such folder {}", folder.string()));
}

ScratchFolder ScratchFolder::temporary(const fs::path& parent) {
  const fs::path above = parent.empty() ? fs::temp_directory_path() : parent;
  std::string pattern = (above / "tunesmith-XXXXXX").string();
  if (mkdtemp(pattern.data()) == nullptr)
    throw EnvironmentError(fmt::format("cannot create a folder in {}", above.string()));
  return ScratchFolder(pattern);
}

ScratchFolder::~ScratchFolder() {
  std::error_code ignored;
  fs::remove_all(path_, ignored);
}

}  // namespace tunesmith
