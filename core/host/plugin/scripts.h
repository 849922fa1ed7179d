// The plugins of one registry that are classes in files of Python.
#pragma once

#include <map>
#include <mutex>
#include <string>
#include <utility>

#include "tunesmith/plugin/script_plugin.h"

namespace tunesmith {

struct LoadedScript {
  ScriptPlugin plugin;
  std::string version;  // "sha256:" and 16 digits, of the file's text
};

/// Each file is read once. Threads: any.
class Scripts {
 public:
  /// Null when `id` is that of another plugin. What is returned stays where it is. Throws UserError when the
  /// file or the class is not there, EnvironmentError when this process makes no such plugins.
  const LoadedScript* load(PluginKind kind, std::string_view id, const SourceLocation& asked_at);

 private:
  std::mutex mutex_;
  std::map<std::pair<PluginKind, std::string>, LoadedScript> loaded_;
};

}  // namespace tunesmith
