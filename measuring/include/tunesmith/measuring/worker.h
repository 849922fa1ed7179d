// The worker's side of measuring: a process that loads and runs candidates, which may crash it.
#pragma once

#pragma GCC visibility push(default)
namespace tunesmith {

/// Serves the tuner at the other end of `socket` until it is
/// closed; returns the process's exit code. For tunesmith-worker.
int serve_measurements(int socket);

}  // namespace tunesmith
#pragma GCC visibility pop
