// Spaces for machines that are not this one, composed from what such a machine says of itself.
#pragma once

#include <memory>

#include "tunesmith/measuring/turns.h"
#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Composes `spec` as `machine` does: with its quantities, limits and extensions. Programs can be made and
/// lowered, but not compiled or loaded. `own`: the space of this machine, whose target has the levels, scopes
/// and steps. Throws EnvironmentError where the two machines make different programs of one trace: other
/// versions, or packs of another content.
std::unique_ptr<Space> space_for(const WorkerDescription& machine, const SpaceSpec& spec,
                                 PluginRegistry& registry, std::shared_ptr<const Space> own);

}  // namespace tunesmith
#pragma GCC visibility pop
