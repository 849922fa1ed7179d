// Files that a person names.
#pragma once

#include <cstdint>
#include <filesystem>
#include <fstream>
#include <string>

namespace tunesmith::cli {

inline constexpr int64_t kMaxFileBytes = int64_t{4} << 30;

/// All bytes of a file. Throws UserError at its place where it is none, cannot be read, or has more than
/// `most` bytes, as what never ends does.
std::string read_whole_file(const std::filesystem::path& path, int64_t most = kMaxFileBytes);

/// A file that is read line by line, however long it is. Throws UserError at its place where it is none, or
/// cannot be read.
std::ifstream open_lines(const std::filesystem::path& path);

}  // namespace tunesmith::cli
