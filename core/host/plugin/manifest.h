// A pack's manifest, <pack>.pack.json: its plugins, with their libraries and hashes.
#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <vector>

#include "plugin/json.h"
#include "tunesmith/plugin/kind.h"

namespace tunesmith {

/// A plugin that another one needs, "extension:acme_npu" in the manifest.
struct PluginReference {
  PluginKind kind = PluginKind::Module;
  std::string id;
};

struct ManifestPlugin {
  PluginKind kind = PluginKind::Module;
  std::string id;
  std::string library;  ///< a path relative to the manifest's folder
  std::string sha256;   ///< of the library, 64 lower-case hexadecimal digits
  std::vector<PluginReference> needs;
};

struct Manifest {
  static constexpr int kVersion = 1;

  std::string id;
  std::string version;
  std::string vendor;
  std::string licence;
  std::vector<ManifestPlugin> plugins;
  /// The libraries of the pack that its plugins need: paths
  /// relative to the manifest's folder, with SHA-256.
  std::map<std::string, std::string> libraries;
};

/// Throws UserError with the file, the location
/// ("plugins[1].sha256" or line and column), and what was expected.
Manifest parse_manifest(std::string_view text, const std::filesystem::path& file);

/// The list `libraries` of such an object, at `place`
/// in the file: [{"library": ..., "sha256": ...}].
std::map<std::string, std::string> parse_libraries(const JsonObject& object,
                                                   const std::filesystem::path& file,
                                                   const std::string& place);

}  // namespace tunesmith
