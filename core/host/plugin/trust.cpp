#include "plugin/trust.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <unistd.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/installation.h"

namespace tunesmith {

namespace {

/// A group that can write the kernel's own library needs no plugin for an attack, so it is trusted in the
/// kernel's folder (pip creates such files where the umask allows group writes).
mode_t writers_besides_the_kernels(const std::filesystem::path& path, const struct stat& status,
                                   mode_t writers) {
  static const std::filesystem::path folder = library_folder();
  struct stat kernel{};
  const bool beside =
      std::mismatch(folder.begin(), folder.end(), path.begin(), path.end()).first == folder.end();
  if (!beside || stat(library_file().c_str(), &kernel) != 0 || kernel.st_gid != status.st_gid) return writers;
  return writers & ~(kernel.st_mode & S_IWGRP);
}

}  // namespace

std::string distrust(const struct stat& status, mode_t writers) {
  if (status.st_uid != 0 && status.st_uid != geteuid()) {
    return fmt::format("is owned by user {}, neither root nor you", status.st_uid);
  }
  const bool sticky_folder = S_ISDIR(status.st_mode) && (status.st_mode & S_ISVTX) != 0;
  if ((status.st_mode & writers) != 0 && !sticky_folder) {
    return fmt::format("is writable by {} (mode {:o})",
                       (status.st_mode & S_IWOTH) != 0 ? "everybody" : "its group", status.st_mode & 07777U);
  }
  return {};
}

TrustedFile::TrustedFile(std::filesystem::path path) : path_(std::move(path)) {
  const auto refuse = [this](const std::string& why) {
    if (descriptor_ >= 0) close(descriptor_);
    throw EnvironmentError(fmt::format("[P8] {} {}", path_.string(), why));
  };
  // Whoever may write to a folder can replace its subfolders. Above the pack, group
  // members are trusted: by default many users' files are writable by their own group.
  mode_t writers = S_IWGRP | S_IWOTH;
  for (std::filesystem::path folder = path_.parent_path();; folder = folder.parent_path()) {
    struct stat status{};
    if (stat(folder.c_str(), &status) != 0) refuse(fmt::format("cannot be opened: {}", std::strerror(errno)));
    if (const std::string why = distrust(status, writers_besides_the_kernels(folder, status, writers));
        !why.empty()) {
      refuse(fmt::format("is in a folder that {}; remedy: make {} yours or root's, then chmod {}-w {}", why,
                         folder.string(), writers == S_IWOTH ? "o" : "go", folder.string()));
    }
    if (folder == folder.root_path()) break;
    writers = S_IWOTH;
  }
  // O_NONBLOCK: a FIFO under this name must not hang the opening.
  descriptor_ = open(path_.c_str(), O_RDONLY | O_NOFOLLOW | O_CLOEXEC | O_NONBLOCK);
  if (descriptor_ < 0 || fstat(descriptor_, &opened_) != 0) {
    refuse(errno == ELOOP ? std::string("became a symbolic link while it was being opened")
                          : fmt::format("cannot be opened: {}", std::strerror(errno)));
  }
  if (!S_ISREG(opened_.st_mode)) refuse("is not a regular file");
  if (const std::string why =
          distrust(opened_, writers_besides_the_kernels(path_, opened_, S_IWGRP | S_IWOTH));
      !why.empty()) {
    refuse(fmt::format("{}; remedy: make it yours or root's, then chmod go-w {}", why, path_.string()));
  }
}

TrustedFile::~TrustedFile() {
  if (!lasts_) close(descriptor_);
}

std::string TrustedFile::read(size_t limit) const {
  const auto size = static_cast<size_t>(opened_.st_size);
  if (size > limit) {
    throw EnvironmentError(
        fmt::format("{} has {} bytes, more than the {} accepted", path_.string(), size, limit));
  }
  std::string content(size, '\0');
  size_t done = 0;
  while (done < size) {
    const ssize_t got = pread(descriptor_, content.data() + done, size - done, static_cast<off_t>(done));
    if (got < 0 && errno == EINTR) continue;
    if (got < 0)
      throw EnvironmentError(fmt::format("{} cannot be read: {}", path_.string(), std::strerror(errno)));
    if (got == 0) break;
    done += static_cast<size_t>(got);
  }
  content.resize(done);
  return content;
}

std::filesystem::path TrustedFile::lasting_path() {
  lasts_ = true;
  return fmt::format("/proc/self/fd/{}", descriptor_);
}

bool TrustedFile::unchanged() const {
  struct stat now{};
  return lstat(path_.c_str(), &now) == 0 && now.st_dev == opened_.st_dev && now.st_ino == opened_.st_ino &&
         now.st_size == opened_.st_size && now.st_mtim.tv_sec == opened_.st_mtim.tv_sec &&
         now.st_mtim.tv_nsec == opened_.st_mtim.tv_nsec && now.st_ctim.tv_sec == opened_.st_ctim.tv_sec &&
         now.st_ctim.tv_nsec == opened_.st_ctim.tv_nsec;
}

}  // namespace tunesmith
