// What is said before a fatal signal ends the process.
#pragma once

namespace tunesmith {

/// From now on `tell` is called with the signal's name before SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT do
/// what they did before. It runs in a signal handler, on the thread at fault.
void name_plugin_at_fatal_signals(void (*tell)(const char* signal));

/// Gives this thread a stack of its own for signals, once: it may have used up the usual one.
void prepare_thread_for_fatal_signals();

}  // namespace tunesmith
