// A loaded kernel whose every function is a guarded call of its target's plugin (plugin/guard.h).
#pragma once

#include <memory>
#include <string>

#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// As target.load(), under the guard, and all functions of the kernel, too: what they throw is a PluginError
/// that names the target `id`, as is an answer against their contract (no entry, an impossible time).
std::unique_ptr<LoadedKernel> load_guarded(Target& target, const std::string& id,
                                           const CompiledKernel& kernel);

}  // namespace tunesmith
#pragma GCC visibility pop
