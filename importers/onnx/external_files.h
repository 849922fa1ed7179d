// Maps files beside a model that contain its weights.
#pragma once

#include <cstddef>
#include <cstdint>
#include <filesystem>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>

namespace tunesmith::onnx_reader {

struct FileBytes {
  std::span<const std::byte> bytes;
  std::shared_ptr<const void> owner;  ///< keeps the mapping
};

class ExternalFiles {
 public:
  explicit ExternalFiles(std::filesystem::path folder) : folder_(std::move(folder)) {}

  /// `length` bytes of a file from `offset`, or everything after it. Throws UserError if the file, with links
  /// followed, is not in the folder, cannot be read, or is too short.
  FileBytes bytes(const std::string& location, uint64_t offset, std::optional<uint64_t> length);

 private:
  const FileBytes& file(const std::string& location);

  std::filesystem::path folder_;
  std::map<std::string, FileBytes> files_;  ///< by location
};

}  // namespace tunesmith::onnx_reader
