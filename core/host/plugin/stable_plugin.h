// The loader's view of plugins of the stable tier, which adapters (api/adapters.cpp)
// give the kernel's interfaces, so that no other code needs to know the tier.
#pragma once

#include <memory>
#include <vector>

#include "plugin/stable_interface.h"
#include "tunesmith/plugin/options.h"

namespace tunesmith {

/// The plugin's first call, which passes it the kernel. Throws the plugin's error.
void start_stable_plugin(const tunesmith_plugin& plugin);

/// The declared options. Throws the plugin's error.
std::vector<OptionSpec> stable_option_specs(const tunesmith_plugin& plugin);

/// Creates an object: a TransformationModule or a TaskScheduler,
/// by the plugin's kind. Throws the plugin's error.
std::shared_ptr<void> make_stable_object(const tunesmith_plugin& plugin, const std::vector<OptionSpec>& specs,
                                         const Options& options);

}  // namespace tunesmith
