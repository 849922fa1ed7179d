// The output stream of commands: the process's original standard output. Once plugins may be loaded, what
// they write to standard output goes to standard error, and damages no result (rule P21).
#pragma once

#include <cstdio>

namespace tunesmith::cli {

/// For fmt::print(output(), ...).
std::FILE* output();

/// Prints a line which says that times are modelled.
void print_modelled_note();

/// Makes output() the only way to the process's standard output. Call on the main thread before any plugin
/// is loaded; further calls have no effect. Throws EnvironmentError if there is no free descriptor.
void keep_output_from_plugins();

}  // namespace tunesmith::cli
