// The worker's side of measuring: a process that loads and runs candidates, and may die of them.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Serves the tuner at the other end of `socket` until it closes; answers the process's exit code. For
/// tunesmith-worker.
int serve_measurements(int socket);

}  // namespace tunesmith
#pragma GCC visibility pop
