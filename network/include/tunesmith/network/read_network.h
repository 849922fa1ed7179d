// Files of networks, by whatever importers there are.
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
  std::shared_ptr<const Importer> importer;  ///< knows the operators that the network is made of
};

/// Maps the file, which must not change while the network lives, and asks the importers of the registry, by
/// their ids, for the first that reads it, with the operators of files (with_operators). What it returns is
/// checked (check_invariants). Throws UserError that begins with the file's name when it is not there, when
/// no importer reads it, and when it is damaged or has what is refused; PluginError for what an importer may
/// not do. Threads: any.
ReadNetwork read_network(PluginRegistry& registry, const std::filesystem::path& file,
                         const std::vector<std::string>& operators = {});

}  // namespace tunesmith::network
#pragma GCC visibility pop
