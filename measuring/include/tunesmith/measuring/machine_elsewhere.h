// Composes spaces for other machines from their descriptions.
#pragma once

#include <memory>

#include "tunesmith/measuring/turns.h"
#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Composes `spec` with the quantities, limits and extensions of `machine`. Programs of the space can be
/// generated and lowered, but not compiled or loaded. `own`: the space of this machine, whose target provides
/// levels, scopes and steps. Throws EnvironmentError if both machines would make different programs from one
/// trace, because of other versions or other contents of packs.
std::unique_ptr<Space> space_for(const WorkerDescription& machine, const SpaceSpec& spec,
                                 PluginRegistry& registry, std::shared_ptr<const Space> own);

}  // namespace tunesmith
#pragma GCC visibility pop
