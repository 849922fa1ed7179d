// plugins.lock: which file each plugin was, so that a run can insist on the same ones.
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

/// Throws UserError when the file is missing or not a lock file, EnvironmentError ("[P8]") when others than
/// root and this user could have written it.
PluginLock read_plugin_lock(const std::filesystem::path& file);

/// Replaces the file in one step. Throws EnvironmentError when it cannot.
void write_plugin_lock(const PluginLock& lock, const std::filesystem::path& file);

}  // namespace tunesmith
