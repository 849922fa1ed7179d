// A plugin that calls exit() would end the command as if it were done.
#pragma once

namespace tunesmith::cli {

/// From now on an end of the process that is not main's is told on standard error, and its code is that of a
/// fault.
void watch_for_early_exit();

/// What main does with its code: from here on the process may end.
int end_with(int code);

}  // namespace tunesmith::cli
