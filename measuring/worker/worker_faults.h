// Turns fatal events of a worker into exit codes (exit_codes.h).
#pragma once

#include <cstdint>

#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith {

/// Handlers for the signals of a wrong program, on a stack of their own, and for exhausted memory.
void install_fault_handlers();

/// Gives this thread and the threads that it starts later the stack size that checking a kernel needs,
/// regardless of the inherited limit: a stack overflow would count as the program's crash. Throws
/// EnvironmentError if the limit cannot be raised.
void provide_stack();

/// A fault inside this buffer's mapping is an access out of
/// bounds. Its address must be stable; at most 256 of them.
void watch_for_faults(const GuardedBuffer& buffer);
/// Call before destroying a watched buffer.
void unwatch(const GuardedBuffer& buffer);

/// Limits the address space to the current use plus `bytes`. If
/// the system runs out of memory, it kills this process first.
void limit_memory(int64_t bytes);

}  // namespace tunesmith
