#pragma once

#include <string>

#include "tunesmith/plugin/options.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// Changes whenever programs for the extended target may be lowered or compiled
/// differently: a hash of a file's content, or of a library's options and of all
/// bytes that it loads from its pack. `library` is null for a file named by its path.
std::string extension_identity(const TargetExtension& extension, const Options& options,
                               const PluginInfo* library);

/// The same for a target that is not built in, whose
/// version relies on its author; "" for a built-in one.
std::string foreign_target_identity(const PluginInfo& library);

}  // namespace tunesmith
