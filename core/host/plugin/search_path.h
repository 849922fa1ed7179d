// The search path for packs.
#pragma once

#include <filesystem>
#include <string>
#include <system_error>
#include <vector>

#include "tunesmith/plugin/registry.h"

namespace tunesmith {

/// The inputs of the search order besides its configuration.
struct PluginEnvironment {
  std::string plugin_path;              ///< TUNESMITH_PLUGIN_PATH
  std::string data_home;                ///< XDG_DATA_HOME
  std::string home;                     ///< HOME
  bool set_id = false;                  ///< the process has more rights than the user who started it
  std::filesystem::path kernel_folder;  ///< the folder of libtunesmith.so

  static PluginEnvironment of_this_process();
};

struct SearchPlace {
  PluginSource source;
  std::filesystem::path path;
  std::string ignored;      ///< why this place is not searched, or ""
  bool asked_for = false;   ///< named by the user: it must exist
  SourceLocation location;  ///< where the user named it
};

inline constexpr const char* kManifestSuffix = ".pack.json";
/// Decides by the file's name.
bool is_manifest(const std::filesystem::path& path);
/// The manifests in a folder and its direct subfolders, in the order of their names.
std::vector<std::filesystem::path> manifests_in(const std::filesystem::path& folder, std::error_code& error);

std::vector<SearchPlace> search_places(const PluginSearch& search, const PluginEnvironment& environment);

}  // namespace tunesmith
