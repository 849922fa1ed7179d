// Ctrl-C and SIGTERM, for commands with results to keep. The signal ends other commands immediately.
#pragma once

#include <atomic>

namespace tunesmith::cli {

/// The first SIGINT or SIGTERM sets the returned flag, and the command ends with the results it has. A
/// process that still runs after 0.8 s prints `last_words` on standard error and ends with kInterrupted; a
/// second signal ends it immediately. `last_words` must live as long as the process. Call once, on the main
/// thread.
const std::atomic<bool>& stop_on_interrupt(const char* last_words);

/// Like stop_on_interrupt(), but without the limit of 0.8 s: the command ends in its own time, and a second
/// signal ends it at once. Call it instead of stop_on_interrupt().
const std::atomic<bool>& drain_on_interrupt();

}  // namespace tunesmith::cli
