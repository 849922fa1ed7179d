// Checks owner and permissions of plugin files.
#pragma once

#include <filesystem>
#include <string>

#include <sys/stat.h>

namespace tunesmith {

/// An open file that only root or this user can have written. Links in `path` must be resolved.
class TrustedFile {
 public:
  /// Throws EnvironmentError, with "[P8]", if the file or its folder is writable by others or belongs to
  /// another user; if a folder above is writable by everybody or belongs to another user; or if `path` is a
  /// link, is not a regular file or cannot be opened.
  explicit TrustedFile(std::filesystem::path path);
  ~TrustedFile();
  TrustedFile(const TrustedFile&) = delete;
  TrustedFile& operator=(const TrustedFile&) = delete;

  /// The whole content. Throws EnvironmentError if it cannot be read or is longer than `limit` bytes.
  std::string read(size_t limit) const;

  /// A path of the opened file that is valid for the life of the process, even if the file's own path
  /// changes: the dynamic linker identifies loaded libraries by it.
  std::filesystem::path lasting_path();

  /// Does the path still name the opened file, and is the file unchanged?
  bool unchanged() const;

 private:
  std::filesystem::path path_;
  int descriptor_ = -1;
  bool lasts_ = false;
  struct stat opened_{};
};

/// "", or why others could change this file or folder: its owner is
/// neither root nor this user, or those in `writers` may write to it (a
/// sticky folder is accepted, since only owners can replace its entries).
std::string distrust(const struct stat& status, mode_t writers = S_IWGRP | S_IWOTH);

}  // namespace tunesmith
