// A plugin that calls exit() would end the command as if it were done.
#pragma once

namespace tunesmith::cli {

/// Reports an end of the process that does not come from
/// main on standard error, with the exit code of a fault.
void watch_for_early_exit();

/// Called by main with its exit code: afterwards the process may end.
int end_with(int code);

}  // namespace tunesmith::cli
