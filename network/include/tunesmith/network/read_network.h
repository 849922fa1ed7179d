// Reads files of networks by any importer.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "tunesmith/network/importer.h"
#include "tunesmith/network/network.h"
#include "tunesmith/plugin/registry.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

struct ReadNetwork {
  Network network;
  std::string importer_id;
  std::shared_ptr<const Importer> importer;  ///< has the network's operators
};

/// Maps the file, which must not change while the network lives, and imports it by the registry's first
/// importer, in the order of ids, that reads it, with the operators of files (with_operators). Checks the
/// result (check_invariants). Throws UserError, beginning with the file's name, if the file does not exist,
/// no importer reads it, it is damaged, or its contents are refused; PluginError if the importer breaks a
/// rule. Thread-safe.
ReadNetwork read_network(PluginRegistry& registry, const std::filesystem::path& file,
                         const std::vector<std::string>& operators = {});

}  // namespace tunesmith::network
#pragma GCC visibility pop
