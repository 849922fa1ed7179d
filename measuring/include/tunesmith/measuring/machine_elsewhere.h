// Spaces for machines that are not this one, composed from what such a machine says of itself.
#pragma once

#include <memory>

#include "tunesmith/measuring/turns.h"
#include "tunesmith/space/space.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// `spec` as `machine` composes it: with its quantities, limits and extensions. Programs can be made and
/// lowered; who compiles or loads one is refused. `own`: the space of this machine, whose target has the
/// levels, scopes and steps. Throws EnvironmentError where the two make different programs of one trace:
/// other versions, or packs of another content.
std::unique_ptr<Space> space_for(const WorkerDescription& machine, const SpaceSpec& spec,
                                 PluginRegistry& registry, std::shared_ptr<const Space> own);

}  // namespace tunesmith
#pragma GCC visibility pop
