// The side of a probe that loads plugins (PluginRegistry::probe() and help_lines()).
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// What tunesmith-worker --probe does: loads what the text on standard input names, and returns its exit
/// code.
int answer_probe();

}  // namespace tunesmith
#pragma GCC visibility pop
