// Files that a person names: read whole, and written whole or not at all. Two threads may use two files.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#pragma GCC visibility push(default)
namespace tunesmith {

inline constexpr int64_t kMaxFileBytes = int64_t{4} << 30;

/// All bytes of a file. Throws UserError at its place where it is none, cannot be read, or has more than
/// `most` bytes, as what never ends does.
std::string read_whole_file(const std::filesystem::path& path, int64_t most = kMaxFileBytes);

/// A file that is read line by line, however long it is. Throws UserError at its place where it is none, or
/// cannot be read.
std::ifstream open_lines(const std::filesystem::path& path);

/// A file that is written piece by piece. commit() replaces the file as a whole: who reads it meanwhile, or
/// has mapped it, keeps the old one. Without it the file stays as it was. A link, or what is no regular file,
/// such as /dev/stdout, is written directly.
class OutputFile {
 public:
  /// Throws UserError when it is one of `inputs`, EnvironmentError when it cannot be written.
  explicit OutputFile(std::filesystem::path path, const std::vector<std::filesystem::path>& inputs = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// Throws EnvironmentError when not all could be written.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path part_;  // what is written, until it takes the file's place; empty: the file itself
  std::ofstream stream_;
};

/// The same at once: `bytes` become the file. Throws EnvironmentError.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

/// Before long work whose result goes into `file`: throws UserError where its folder does not exist.
void require_folder_of(const std::filesystem::path& file);

/// A folder that is removed, with all in it, when this object is.
class ScratchFolder {
 public:
  /// A new one in `parent`, empty: among the system's temporary files. Throws EnvironmentError.
  static ScratchFolder temporary(const std::filesystem::path& parent = {});
  /// This one, which need not exist; a process that was killed may have left it.
  explicit ScratchFolder(std::filesystem::path path) : path_(std::move(path)) {}
  ~ScratchFolder();
  ScratchFolder(const ScratchFolder&) = delete;
  ScratchFolder& operator=(const ScratchFolder&) = delete;
  const std::filesystem::path& path() const { return path_; }

 private:
  std::filesystem::path path_;
};

}  // namespace tunesmith
#pragma GCC visibility pop
