// Plugins that are a YAML file instead of a library: they are data, so compatibility with
// the kernel does not matter. Ownership and permissions are checked as for libraries.
#pragma once

#include <memory>
#include <string>

#include "tunesmith/plugin/registry.h"

namespace tunesmith {

struct FilePlugin {
  std::string id;    // as the file says
  std::string help;  // one line
  std::shared_ptr<void> object;
};

/// Makes the object of a file's text; `file` is named in errors. Throws UserError.
using FilePluginReader = FilePlugin (*)(const std::string& text, const std::string& file);

/// Registers the reader for files of a plugin kind. Call before any is loaded.
void set_file_plugin_reader(PluginKind kind, FilePluginReader reader);

bool is_file_plugin(const PluginInfo& plugin);

/// Throws PluginError if plugins of this kind cannot be files, UserError for invalid text.
FilePlugin read_file_plugin(const PluginInfo& plugin, const std::string& text);

}  // namespace tunesmith
