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

/// What the space does without, as no pack has it. One that is not optional is never absent: to make it is an
/// error.
std::optional<AbsentExtension> absent_extension(const PluginUse& use, const PluginRegistry& registry);

struct NamedExtension {
  std::string name;  // as the file says, or the plugin's id
  std::shared_ptr<TargetExtension> extension;
  Options options;                      // a file has none
  const PluginInfo* library = nullptr;  // null for a file that is named by its path
};

/// Reads the file, or makes the plugin. Throws UserError at the place in the spaces file where there is none,
/// with the nearest name of a plugin.
NamedExtension make_extension(const PluginUse& use, Composer& composer);

/// The intrinsics that the extension would give to a target with `options`, where it is not there to give
/// them.
std::vector<TensorIntrinsicPtr> intrinsics_of(const NamedExtension& named, LowerOptions options);

}  // namespace tunesmith
