// Plugins that are a YAML file instead of a library: data, with nothing in it that could fit or not fit this
// kernel. The rules of trust hold for them as for libraries.
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

/// The folder that knows what a plugin of the kind is says how its files are read. Before any is loaded.
void set_file_plugin_reader(PluginKind kind, FilePluginReader reader);

bool is_file_plugin(const PluginInfo& plugin);

/// Throws PluginError when plugins of this kind are no files, UserError when the text is wrong.
FilePlugin read_file_plugin(const PluginInfo& plugin, const std::string& text);

}  // namespace tunesmith
