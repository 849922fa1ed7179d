// Reads whole files and writes files atomically. Different threads may use different files.
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

/// Reads a file. Throws UserError with its path if it does not exist, cannot
/// be read, or has more than `most` bytes (an endless device, for example).
std::string read_whole_file(const std::filesystem::path& path, int64_t most = kMaxFileBytes);

/// Opens a file to be read line by line. Throws UserError
/// with its path if it does not exist or cannot be read.
std::ifstream open_lines(const std::filesystem::path& path);

/// A file that is written piece by piece and replaced atomically by commit():
/// readers and mappings keep the old file. Without commit() the file stays
/// unchanged. A link or a special file such as /dev/stdout is written directly.
class OutputFile {
 public:
  /// Throws UserError if it is one of `inputs`, EnvironmentError if it cannot be written.
  explicit OutputFile(std::filesystem::path path, const std::vector<std::filesystem::path>& inputs = {});
  ~OutputFile();
  OutputFile(const OutputFile&) = delete;
  OutputFile& operator=(const OutputFile&) = delete;

  std::ostream& stream() { return stream_; }
  /// Throws EnvironmentError if not everything could be written.
  void commit();

 private:
  std::filesystem::path path_;
  std::filesystem::path part_;  // the temporary file that replaces the file; empty: the file itself
  std::ofstream stream_;
};

/// Replaces a file by `bytes` atomically. Throws EnvironmentError.
void write_whole_file(const std::filesystem::path& path, std::string_view bytes);

/// Called before long work whose result goes into `file`: throws UserError if its folder does not exist.
void require_folder_of(const std::filesystem::path& file);

/// A folder that is removed with its contents by the destructor.
class ScratchFolder {
 public:
  /// Makes a folder in `parent`; empty: in the system's temporary folder. Throws EnvironmentError.
  static ScratchFolder temporary(const std::filesystem::path& parent = {});
  /// Takes this folder, which need not exist, possibly left behind by a killed process.
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
