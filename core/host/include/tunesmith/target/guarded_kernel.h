// A loaded kernel whose functions are guarded calls of its target's plugin (plugin/guard.h).
#pragma once

#include <memory>
#include <string>

#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Guards target.load() and all functions of the kernel: their exceptions become a PluginError that
/// names the target `id`, as do results that break their contract (no entry, an impossible time).
std::unique_ptr<LoadedKernel> load_guarded(Target& target, const std::string& id,
                                           const CompiledKernel& kernel);

}  // namespace tunesmith
#pragma GCC visibility pop
