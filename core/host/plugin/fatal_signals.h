// Reports a fatal signal before it ends the process.
#pragma once

namespace tunesmith {

/// Calls `tell` with the signal's name before SIGSEGV, SIGBUS, SIGILL, SIGFPE and SIGABRT
/// take their previous effect. It runs in a signal handler, on the faulting thread.
void name_plugin_at_fatal_signals(void (*tell)(const char* signal));

/// Gives this thread a separate signal stack, once: it may have exhausted its usual stack.
void prepare_thread_for_fatal_signals();

}  // namespace tunesmith
