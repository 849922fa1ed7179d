// Where commands print. It is the process's standard output, which plugins may write to by mistake; once they
// may be loaded, what they write there goes to standard error and damages no result (rule P21).
#pragma once

#include <cstdio>

namespace tunesmith::cli {

/// What a command says, by fmt::print(output(), ...).
std::FILE* output();

/// That the times beside it are a model's, as a line.
void print_modelled_note();

/// From now on output() alone leads to the process's standard output. To be called on the main thread before
/// any plugin is loaded; again does nothing. Throws EnvironmentError when no descriptor is left.
void keep_output_from_plugins();

}  // namespace tunesmith::cli
