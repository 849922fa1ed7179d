#include "nvrtc/cubin_cache.h"

#include <algorithm>
#include <atomic>
#include <fstream>
#include <sstream>
#include <system_error>

#include <fmt/format.h>
#include <unistd.h>

#include "tunesmith/support/error.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::cuda {
namespace {

namespace fs = std::filesystem;

constexpr const char* kFormat = "tunesmith-cubin-2";
constexpr const char* kExtension = ".cubin-entry";

// A length before each part, so that no two lists of parts are the same text.
void append_part(std::string& text, const std::string& part) {
  text += fmt::format("{}:{}\n", part.size(), part);
}

}  // namespace

CubinCache::CubinCache(fs::path folder, uint64_t max_bytes)
    : folder_(std::move(folder)), max_bytes_(max_bytes) {
  std::error_code error;
  fs::create_directories(folder_, error);
  if (error) throw EnvironmentError(fmt::format("{}: {}", folder_.string(), error.message()));
}

std::string CubinCache::key(const std::string& text, const std::string& architecture,
                            const std::vector<std::string>& options, const std::string& compiler_version) {
  std::string all;
  append_part(all, kFormat);
  append_part(all, compiler_version);
  append_part(all, architecture);
  append_part(all, std::to_string(options.size()));
  for (const std::string& option : options) append_part(all, option);
  append_part(all, text);
  return sha256_hex(all);
}

fs::path CubinCache::file_of(const std::string& key) const { return folder_ / (key + kExtension); }

std::optional<CubinCache::Entry> CubinCache::find(const std::string& key) const {
  const fs::path file = file_of(key);
  std::ifstream stream(file, std::ios::binary);
  if (!stream) return std::nullopt;
  std::string format, hash, rest;
  size_t log_bytes = 0;
  stream >> format >> log_bytes >> hash;
  stream.get();  // the line's end
  std::ostringstream contents;
  contents << stream.rdbuf();
  rest = contents.str();
  std::error_code ignored;  // of a read-only folder
  if (format != kFormat || log_bytes > rest.size() || sha256_hex(rest) != hash) {
    fs::remove(file, ignored);
    return std::nullopt;
  }
  fs::last_write_time(file, fs::file_time_type::clock::now(), ignored);
  return Entry{rest.substr(0, log_bytes), rest.substr(log_bytes)};
}

void CubinCache::store(const std::string& key, const Entry& entry) const {
  static std::atomic<unsigned> serial{0};
  const fs::path unfinished = folder_ / fmt::format("{}.{}.{}.unfinished", key, getpid(), serial++);
  const std::string contents = entry.log + entry.cubin;
  {
    std::ofstream stream(unfinished, std::ios::binary);
    stream << kFormat << ' ' << entry.log.size() << ' ' << sha256_hex(contents) << '\n' << contents;
    stream.close();
    std::error_code error;
    if (stream) fs::rename(unfinished, file_of(key), error);
    if (!stream || error) {
      fs::remove(unfinished, error);
      return;
    }
  }
  remove_oldest();
}

void CubinCache::remove_oldest() const {
  struct File {
    fs::file_time_type used;
    fs::path path;
    uint64_t bytes;
  };
  std::vector<File> files;
  uint64_t total = 0;
  std::error_code error;
  for (const fs::directory_entry& entry : fs::directory_iterator(folder_, error)) {
    if (entry.path().extension() != kExtension) continue;
    std::error_code gone;  // another process may remove files, too
    const uint64_t bytes = entry.file_size(gone);
    const fs::file_time_type used = entry.last_write_time(gone);
    if (gone) continue;
    files.push_back({used, entry.path(), bytes});
    total += bytes;
  }
  if (total <= max_bytes_) return;
  std::sort(files.begin(), files.end(), [](const File& a, const File& b) {
    return a.used != b.used ? a.used < b.used : a.path < b.path;
  });
  for (const File& file : files) {
    if (total <= max_bytes_) return;
    fs::remove(file.path, error);
    total -= file.bytes;
  }
}

}  // namespace tunesmith::cuda
