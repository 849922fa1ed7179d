// What a plugin's library needs of its pack: libraries that the dynamic linker loads with it.
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
  /// Of the pack, checked, each after those that it needs.
  std::vector<std::unique_ptr<TrustedFile>> of_pack;
  /// Outside of it, where a search path that begins with $ORIGIN leads. A library that is loaded by its
  /// descriptor has no such place, so that the dynamic linker would look for them in vain.
  std::vector<std::filesystem::path> outside;
};

/// Checks every library of the pack that will be loaded with `library` (links resolved, with this content),
/// and what they need in turn: each is listed in the manifest with its hash and can be written by nobody
/// else. What lies outside of the pack is the system's. Throws EnvironmentError with the rule that does not
/// hold.
NeededLibraries check_pack_libraries(const PluginInfo& plugin, const std::filesystem::path& library,
                                     const std::string& content);

/// Is a file, or what is reached by this path, in the folder or below?
bool is_below(const std::filesystem::path& path, const std::filesystem::path& folder);

}  // namespace tunesmith
