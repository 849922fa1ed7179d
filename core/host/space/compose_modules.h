// Modules as their descriptions connect them: which bring which, and who carries out whose annotations.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "space/composer.h"
#include "space/composition.h"

namespace tunesmith {

/// Makes the module and asks what it says of itself. Throws as Composer::make().
ComposedModule compose_module(const PluginUse& use, Options options, Composer& composer);

/// Adds the partners that are neither there nor `removed`, those of partners, too: module by module, each
/// where its own description wants it. Throws UserError at the module's place where a partner is not
/// installed.
void bring_partners(std::vector<ComposedModule>& modules, const std::vector<std::string>& removed,
                    Composer& composer);

/// Keys of what `pipeline` and the target carry out behind all modules.
std::set<std::string> consumed_below(const Target& target, const Pipeline& pipeline);

/// By module, then in the order of its description. A module consumes what those before it made: of earlier
/// stages, and of its own those that stand before it.
std::vector<UnconsumedAnnotation> find_unconsumed(const std::vector<ComposedModule>& modules,
                                                  const std::set<std::string>& below);

}  // namespace tunesmith
