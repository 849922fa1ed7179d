// Where packs are looked for, and in which order.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tunesmith/plugin/registry.h"

namespace tunesmith {

/// What the search order depends on outside of its configuration.
struct PluginEnvironment {
  std::string plugin_path;              ///< TUNESMITH_PLUGIN_PATH
  std::string data_home;                ///< XDG_DATA_HOME
  std::string home;                     ///< HOME
  bool set_id = false;                  ///< the process has more rights than who started it
  std::filesystem::path kernel_folder;  ///< where libtunesmith.so lies

  static PluginEnvironment of_this_process();
};

struct SearchPlace {
  PluginSource source;
  std::filesystem::path path;
  std::string ignored;      ///< why this place is not looked at, or ""
  bool asked_for = false;   ///< a person named it, so that it must exist
  SourceLocation location;  ///< where they named it
};

inline constexpr const char* kManifestSuffix = ".pack.json";
/// By its name.
bool is_manifest(const std::filesystem::path& path);
/// The manifests in a folder and its direct subfolders, in the order of their names.
std::vector<std::filesystem::path> manifests_in(const std::filesystem::path& folder, std::error_code& error);

std::vector<SearchPlace> search_places(const PluginSearch& search, const PluginEnvironment& environment);

}  // namespace tunesmith
