#include "output_file.h"

#include <utility>

#include <fmt/format.h>

#include <tunesmith/support/error.h>
#include <tunesmith/support/unique_id.h>

namespace tunesmith::cli {

namespace fs = std::filesystem;

OutputFile::OutputFile(fs::path path, const std::vector<fs::path>& inputs) : path_(std::move(path)) {
  std::error_code ignored;
  for (const fs::path& input : inputs) {
    if (fs::equivalent(path_, input, ignored))
      throw UserError(SourceLocation{path_.string()}, "it is what is read, and would be lost",
                      "name another file for the output");
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

void require_folder_of(const fs::path& file) {
  const fs::path folder = file.parent_path();
  std::error_code ignored;
  if (!folder.empty() && !fs::is_directory(folder, ignored))
    throw UserError(SourceLocation{file.string()}, fmt::format("there is no folder {}", folder.string()));
}

}  // namespace tunesmith::cli
