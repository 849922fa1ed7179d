#include "plugin/file_plugin.h"

#include <map>

#include <fmt/format.h>

namespace tunesmith {

namespace {

std::map<PluginKind, FilePluginReader>& readers() {
  static std::map<PluginKind, FilePluginReader> readers;
  return readers;
}

}  // namespace

void set_file_plugin_reader(PluginKind kind, FilePluginReader reader) { readers()[kind] = reader; }

bool is_file_plugin(const PluginInfo& plugin) { return plugin.library.extension() == ".yaml"; }

FilePlugin read_file_plugin(const PluginInfo& plugin, const std::string& text) {
  const auto reader = readers().find(plugin.kind);
  if (reader == readers().end()) {
    throw PluginError(plugin.kind, plugin.id,
                      fmt::format("{} is refused: [P1] a {} cannot be a YAML file; remedy: build a library",
                                  plugin.library.string(), kind_name(plugin.kind)));
  }
  return reader->second(text, plugin.library.string());
}

}  // namespace tunesmith
