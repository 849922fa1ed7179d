#pragma once

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/spaces_file.h"

namespace tunesmith {

/// Throws EnvironmentError, with the location in the spaces file and all names, if packs that the space
/// requires are missing.
void require_packs(const SpaceSpec& spec, const PluginRegistry& registry);

}  // namespace tunesmith
