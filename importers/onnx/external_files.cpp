#include "external_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>

#include <fcntl.h>
#include <fmt/format.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <tunesmith/support/error.h>

namespace tunesmith::onnx_reader {
namespace {

namespace fs = std::filesystem;

UserError cannot_be_read(const fs::path& path, const std::string& why) {
  return UserError(fmt::format("the external data '{}' cannot be read: {}", path.string(), why));
}

/// "; 'below/link' is a link to '../outside'" for the first link of the path; "" if there is none.
std::string link_on_the_way(const fs::path& root, const fs::path& named) {
  fs::path way;
  for (const fs::path& part : named) {
    way /= part;
    std::error_code error;
    const fs::path target = fs::read_symlink(root / way, error);
    if (!error) return fmt::format("; '{}' is a link to '{}'", way.string(), target.string());
  }
  return "";
}

/// The canonical path of the location's file.
fs::path inside(const fs::path& folder, const std::string& location) {
  const fs::path named(location);
  if (location.empty() || location.find('\0') != std::string::npos || named.is_absolute())
    throw UserError(fmt::format("the external data '{}' is not a path below the model's folder", location));
  std::error_code error;
  const fs::path root = fs::canonical(folder, error);
  if (error) throw cannot_be_read(folder, error.message());
  const fs::path path = fs::canonical(root / named, error);
  if (error) throw cannot_be_read(root / named, error.message());
  if (std::ranges::mismatch(root, path).in1 != root.end())
    throw UserError(fmt::format("the external data '{}' lies outside the model's folder{}", location,
                                link_on_the_way(root, named)),
                    "give a folder of the files themselves, for example copied with cp -rL");
  return path;
}

FileBytes map_file(const fs::path& path) {
  // Non-blocking: opening a pipe would wait before the check for a regular file.
  const int file = ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK);
  if (file < 0) throw cannot_be_read(path, std::strerror(errno));
  const std::shared_ptr<const int> closer(&file, [](const int* descriptor) { ::close(*descriptor); });
  struct stat status{};
  if (::fstat(file, &status) != 0) throw cannot_be_read(path, std::strerror(errno));
  if (!S_ISREG(status.st_mode)) throw cannot_be_read(path, "not a file");
  const auto size = static_cast<size_t>(status.st_size);
  if (size == 0) return {};
  void* memory = ::mmap(nullptr, size, PROT_READ, MAP_PRIVATE, file, 0);
  if (memory == MAP_FAILED) throw cannot_be_read(path, std::strerror(errno));
  return {{static_cast<const std::byte*>(memory), size},
          {memory, [size](const void* mapped) { ::munmap(const_cast<void*>(mapped), size); }}};
}

}  // namespace

const FileBytes& ExternalFiles::file(const std::string& location) {
  const auto known = files_.find(location);
  if (known != files_.end()) return known->second;
  return files_.emplace(location, map_file(inside(folder_, location))).first->second;
}

FileBytes ExternalFiles::bytes(const std::string& location, uint64_t offset, std::optional<uint64_t> length) {
  const FileBytes& all = file(location);
  const uint64_t size = all.bytes.size();
  if (offset > size || (length && *length > size - offset))
    throw UserError(fmt::format("the external data '{}' has {} bytes, and {} from {} are asked for", location,
                                size, length ? fmt::format("{}", *length) : "those", offset));
  return {all.bytes.subspan(offset, length.value_or(size - offset)), all.owner};
}

}  // namespace tunesmith::onnx_reader
