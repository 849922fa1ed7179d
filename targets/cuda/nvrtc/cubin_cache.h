// A cache of compiled kernels on disk, keyed by the compiler's input.
#pragma once

#include <cstdint>
#include <filesystem>
#include <optional>
#include <string>
#include <vector>

namespace tunesmith::cuda {

/// A folder with one file per compilation. Entries are added by an atomic rename, so that processes may share
/// the folder, and checked when read; damaged ones are removed. Thread-safe.
class CubinCache {
 public:
  struct Entry {
    std::string log, cubin;
  };

  /// Creates the folder if necessary. If its files exceed `max_bytes`, removes the
  /// least recently used. Throws EnvironmentError if the folder cannot be created.
  CubinCache(std::filesystem::path folder, uint64_t max_bytes);

  /// A hash of everything that determines the result.
  static std::string key(const std::string& text, const std::string& architecture,
                         const std::vector<std::string>& options, const std::string& compiler_version);

  std::optional<Entry> find(const std::string& key) const;
  /// A full or read-only folder is no error: the entry is then compiled again.
  void store(const std::string& key, const Entry& entry) const;

 private:
  std::filesystem::path file_of(const std::string& key) const;
  void remove_oldest() const;

  std::filesystem::path folder_;
  uint64_t max_bytes_;
};

}  // namespace tunesmith::cuda
