// Checks owner and permissions of plugin files.
#pragma once

#include <filesystem>
#include <string>

#include <sys/stat.h>

namespace tunesmith {

/// An open file that only root or this user can have written. `path` has its links resolved.
class TrustedFile {
 public:
  /// Throws EnvironmentError, with "[P8]", when the file or its folder is writable by others or belongs to
  /// somebody else; when a folder above that one belongs to somebody else or is writable by everybody; and
  /// when `path` is a link, no regular file or cannot be opened.
  explicit TrustedFile(std::filesystem::path path);
  ~TrustedFile();
  TrustedFile(const TrustedFile&) = delete;
  TrustedFile& operator=(const TrustedFile&) = delete;

  /// The whole content. Throws EnvironmentError when it cannot be read or is longer than `limit` bytes.
  std::string read(size_t limit) const;

  /// A path of the opened file that stays valid, whatever the file's path refers to, as
  /// long as the process lives: the dynamic linker identifies loaded libraries by it.
  std::filesystem::path lasting_path();

  /// Does the path still name the file that was opened, unchanged since?
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
