// The child's side of a probe that loads plugins (PluginRegistry::probe() and help_lines()).
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Implements tunesmith-worker --probe: loads the plugins
/// named on standard input and returns the exit code.
int answer_probe();

}  // namespace tunesmith
#pragma GCC visibility pop
