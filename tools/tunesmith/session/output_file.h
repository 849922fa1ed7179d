// A file that a command writes.
#pragma once

#include <filesystem>
#include <fstream>
#include <vector>

namespace tunesmith::cli {

/// commit() replaces the file as a whole; without it the file stays as it was. A link, or what is no regular
/// file, such as /dev/stdout, is written directly.
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

/// Before long work whose result goes into `file`: throws UserError where its folder does not exist.
void require_folder_of(const std::filesystem::path& file);

}  // namespace tunesmith::cli
