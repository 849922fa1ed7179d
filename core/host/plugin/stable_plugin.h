// Plugins of the stable tier: what the loader needs to know of them. They are behind adapters that implement
// the kernel's own interfaces (api/adapters.cpp), so that nobody else can tell them from others.
#pragma once

#include <memory>
#include <vector>

#include "plugin/stable_interface.h"
#include "tunesmith/plugin/options.h"

namespace tunesmith {

/// Tells the plugin about the kernel: its first call. Throws what the plugin answers.
void start_stable_plugin(const tunesmith_plugin& plugin);

/// The options that it declares. Throws as it answers.
std::vector<OptionSpec> stable_option_specs(const tunesmith_plugin& plugin);

/// A new object of it: a TransformationModule or a TaskScheduler, by the plugin's kind. Throws what the
/// plugin answers.
std::shared_ptr<void> make_stable_object(const tunesmith_plugin& plugin, const std::vector<OptionSpec>& specs,
                                         const Options& options);

}  // namespace tunesmith
