// Ctrl-C and SIGTERM, for commands with results to keep. The signal ends other commands immediately.
#pragma once

#include <atomic>

namespace tunesmith::cli {

/// The first SIGINT or SIGTERM sets the returned flag, so that the command ends with
/// what it has. A process that has not ended after 0.8 s is ended with kInterrupted
/// after printing `last_words` on standard error; a second signal ends it immediately.
/// `last_words` must live as long as the process. Call once, on the main thread.
const std::atomic<bool>& stop_on_interrupt(const char* last_words);

/// The same for a command that ends in its own time: it has as long as it needs, and a second signal ends it
/// at once. In place of stop_on_interrupt().
const std::atomic<bool>& drain_on_interrupt();

}  // namespace tunesmith::cli
