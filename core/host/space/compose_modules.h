// Connects modules by their descriptions: partners, and producers and consumers of annotations.
#pragma once

#include <set>
#include <string>
#include <vector>

#include "space/composer.h"
#include "space/composition.h"

namespace tunesmith {

/// Creates the module and gets its description. Throws as Composer::make().
ComposedModule compose_module(const PluginUse& use, Options options, Composer& composer);

/// Adds missing partners that are not `removed`, recursively: module by
/// module, each at the position that its description requests. Throws
/// UserError at the module's location if a partner is not installed.
void bring_partners(std::vector<ComposedModule>& modules, const std::vector<std::string>& removed,
                    Composer& composer);

/// Keys of the annotations that `pipeline` and the target consume after all modules.
std::set<std::string> consumed_below(const Target& target, const Pipeline& pipeline);

/// By module, then in the order of its description. A module consumes
/// annotations of earlier stages, and of earlier modules in its own stage.
std::vector<UnconsumedAnnotation> find_unconsumed(const std::vector<ComposedModule>& modules,
                                                  const std::set<std::string>& below);

}  // namespace tunesmith
