// The extensions that a space names: plugins, and files beside the spaces file.
#pragma once

#include <filesystem>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "space/composer.h"
#include "tunesmith/space/absent_extension.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// An optional extension that no pack contains. A
/// required one is never absent: creating it throws.
std::optional<AbsentExtension> absent_extension(const PluginUse& use, const PluginRegistry& registry);

struct NamedExtension {
  std::string name;  // as the file says, or the plugin's id
  std::shared_ptr<TargetExtension> extension;
  Options options;                      // empty for a file
  const PluginInfo* library = nullptr;  // null for a file named by its path
};

/// Reads the file, or creates the plugin. Throws UserError at the location
/// in the spaces file if it does not exist, with the nearest plugin name.
NamedExtension make_extension(const PluginUse& use, Composer& composer);

/// The intrinsics that the extension would add to
/// a target with `options` if it were available.
std::vector<TensorIntrinsicPtr> intrinsics_of(const NamedExtension& named, LowerOptions options);

}  // namespace tunesmith
