// A call of a kernel to which nothing that it has not written looks like a number that it could have written.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "worker/time_kernel.h"

namespace tunesmith {

/// Seconds of one call, before which the stacks of all threads, where the kernel's frames will lie, and the
/// registers for numbers are filled with `poison`, these again wherever the kernel continues on another
/// thread. Buffers are the caller's to fill.
double time_poisoned(const KernelCall& call, std::byte poison);

/// What such calls have changed, since the last question, of what belongs to their callers; one line.
std::optional<std::string> take_caller_state_change();

}  // namespace tunesmith
