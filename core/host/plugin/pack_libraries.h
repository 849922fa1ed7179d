// The libraries of its pack that the dynamic linker loads with a plugin.
#pragma once

#include <filesystem>
#include <memory>
#include <string>
#include <vector>

#include "plugin/trust.h"
#include "tunesmith/plugin/registry.h"

namespace tunesmith {

inline constexpr size_t kLargestLibrary = size_t{2} << 30;

struct NeededLibraries {
  /// In the pack, checked, each after those that it needs.
  std::vector<std::unique_ptr<TrustedFile>> of_pack;
  /// Outside of the pack, found by a search path with $ORIGIN. A library loaded
  /// by its descriptor has no $ORIGIN, so the dynamic linker would not find them.
  std::vector<std::filesystem::path> outside;
};

/// Checks every library of the pack that will be loaded with `library` (links resolved,
/// with this content), with their dependencies: each must be listed in the manifest
/// with its hash and not be writable by other users. Libraries outside the pack belong to
/// the system and are not checked. Throws EnvironmentError with the violated rule.
NeededLibraries check_pack_libraries(const PluginInfo& plugin, const std::filesystem::path& library,
                                     const std::string& content);

/// Is the path, with links resolved, in the folder or below?
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace tunesmith
