// The script plugins of a registry: classes in Python files.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tunesmith/plugin/script_plugin.h"

namespace tunesmith {

struct LoadedScript {
  ScriptPlugin plugin;
  std::string version;  // "sha256:" and 16 digits of the file's hash
};

/// Reads each file once. Thread-safe.
class Scripts {
 public:
  /// Null if `id` is not a script plugin. The returned address is stable. Throws UserError if the
  /// file or class does not exist, EnvironmentError if this process cannot make such plugins.
  const LoadedScript* load(PluginKind kind, std::string_view id, const SourceLocation& asked_at);

 private:
  std::mutex mutex_;
  std::map<std::pair<PluginKind, std::string>, LoadedScript> loaded_;
};

}  // namespace tunesmith
