// What ends a worker, turned into an exit code that says why (exit_codes.h).
#pragma once

#include <cstdint>

#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith {

/// Handlers for the signals of a wrong program, on a stack of their own, and for exhausted memory.
void install_fault_handlers();

/// Gives this thread and those that it will start the stack that checking a kernel takes, whatever the limit
/// of whoever started the process is: a crash for want of it would count as the program's. Throws
/// EnvironmentError where the limit cannot be raised.
void provide_stack();

/// A fault inside this buffer's mapping is an access out of bounds. The buffer must stay where it is; at most
/// 256 of them.
void watch_for_faults(const GuardedBuffer& buffer);
/// Before a watched buffer goes.
void unwatch(const GuardedBuffer& buffer);

/// Limits the address space to what is in use now and `bytes` more. Where the system itself has no memory
/// left, it ends this process before any other.
void limit_memory(int64_t bytes);

}  // namespace tunesmith
