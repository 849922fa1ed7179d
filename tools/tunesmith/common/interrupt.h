// Ctrl-C and SIGTERM, for commands that have something to keep. The others are ended by the signal at once.
#pragma once

#include <atomic>

namespace tunesmith::cli {

/// From now on the first SIGINT or SIGTERM sets the flag that is answered, for the command to end with what
/// it has. A process that has not ended 0.8 s later, whatever it is doing, is ended with kInterrupted after
/// `last_words` on standard error; a second signal ends it at once. `last_words` must live as long as the
/// process. To be called once, on the main thread.
const std::atomic<bool>& stop_on_interrupt(const char* last_words);

/// The same for a command that ends in its own time: it has as long as it needs, and a second signal ends it
/// at once. In place of stop_on_interrupt().
const std::atomic<bool>& drain_on_interrupt();

}  // namespace tunesmith::cli
