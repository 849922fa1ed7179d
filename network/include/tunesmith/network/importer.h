// The interface of importers, plugins that read files of networks.
#pragma once

#include <cstddef>
#include <filesystem>
#include <span>
#include <string_view>

#include "tunesmith/network/network.h"
#include "tunesmith/network/operator.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Made once, and never destroyed before the process ends. Thread-safe.
class Importer {
 public:
  virtual ~Importer() = default;

  /// Is a file with this name and this beginning in the importer's format?
  virtual bool reads(std::string_view file_name, std::span<const std::byte> head) const = 0;

  /// Reads a network from the bytes of a file. `folder` contains further files that the bytes name, such as
  /// weights, which are mapped, not read; a path that leads out of it is refused. The network may keep
  /// `bytes` alive by `owner`. Throws UserError for damaged files, and one for all contents that the network
  /// cannot represent.
  virtual network::Network import(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                                  const std::filesystem::path& folder) const = 0;

  /// Reads a tensor from a separate file, such as test data. The result owns its bytes. Throws UserError,
  /// also if the format has no such files.
  virtual std::shared_ptr<const network::Constant> read_tensor(std::span<const std::byte> bytes) const;

  /// Null if the format has no such operator in this version, or the importer does not know it.
  virtual const network::Operator* find_operator(std::string_view op, int64_t version) const = 0;
};

inline std::shared_ptr<const network::Constant> Importer::read_tensor(
    std::span<const std::byte> /*bytes*/) const {
  throw UserError("the format has no files of single tensors");
}

}  // namespace tunesmith
#pragma GCC visibility pop
