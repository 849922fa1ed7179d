#pragma once

#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/spaces_file.h"

namespace tunesmith {

/// Throws EnvironmentError at the place in the spaces file when a pack that the space requires is not here,
/// with the names of all that are not.
void require_packs(const SpaceSpec& spec, const PluginRegistry& registry);

}  // namespace tunesmith
