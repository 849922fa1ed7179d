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

/// Made once, never destroyed before the process ends; called from any thread, several at once.
class Importer {
 public:
  virtual ~Importer() = default;

  /// Are these bytes, the beginning of a file of this name, of its format?
  virtual bool reads(std::string_view file_name, std::span<const std::byte> head) const = 0;

  /// What the bytes of a file say. `folder` is where files lie that the bytes name, such as weights, which
  /// are mapped, not read; a path that leads out of it is refused. The network may keep the bytes of `bytes`
  /// alive by `owner`. Throws UserError for damaged files, and for all that it has no representation for, in
  /// one error.
  virtual network::Network import(std::span<const std::byte> bytes, const std::shared_ptr<const void>& owner,
                                  const std::filesystem::path& folder) const = 0;

  /// A tensor in a file of its own, as test data are. Its bytes are its own. Throws UserError, also where the
  /// format has no such files.
  virtual std::shared_ptr<const network::Constant> read_tensor(std::span<const std::byte> bytes) const;

  /// Null where the format has no such operator in this version, or this importer does not know it.
  virtual const network::Operator* find_operator(std::string_view op, int64_t version) const = 0;
};

inline std::shared_ptr<const network::Constant> Importer::read_tensor(
    std::span<const std::byte> /*bytes*/) const {
  throw UserError("the format has no files of single tensors");
}

}  // namespace tunesmith
#pragma GCC visibility pop
