// plugins.lock: the hashes of all plugins, so that a later run can require the same files.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <utility>

#include "tunesmith/plugin/kind.h"

namespace tunesmith {

struct LockedPlugin {
  std::string version;  ///< of the pack
  std::string sha256;
  std::map<std::string, std::string> libraries;  ///< that come with the pack, as in PluginInfo
};

using PluginLock = std::map<std::pair<PluginKind, std::string>, LockedPlugin>;

/// Throws UserError if the file is missing or not a lock file, EnvironmentError ("[P8]") if users other than
/// root and this user can write it.
PluginLock read_plugin_lock(const std::filesystem::path& file);

/// Replaces the file atomically. Throws EnvironmentError.
void write_plugin_lock(const PluginLock& lock, const std::filesystem::path& file);

}  // namespace tunesmith
