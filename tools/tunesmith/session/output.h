// The output stream of commands: the process's standard output, which plugins may write to by mistake;
// after plugins may be loaded, their output goes to standard error and damages no result (rule P21).
#pragma once

#include <cstdio>

namespace tunesmith::cli {

/// For fmt::print(output(), ...).
std::FILE* output();

/// Prints a line that the times are modelled.
void print_modelled_note();

/// Makes output() the only way to the process's standard output. Call on the main thread before any plugin
/// is loaded; further calls have no effect. Throws EnvironmentError if there is no free descriptor.
void keep_output_from_plugins();

}  // namespace tunesmith::cli
