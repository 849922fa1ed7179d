// A call of a kernel to which nothing that it has not written looks like a number that it could have written.
#pragma once

#include <cstddef>

#include "worker/time_kernel.h"

namespace tunesmith {

/// Seconds of one call, before which the stacks of all threads, where the kernel's frames will lie, and the
/// registers for numbers are filled with `poison`, these again wherever the kernel continues on another
/// thread. Buffers are the caller's to fill.
double time_poisoned(const KernelCall& call, std::byte poison);

}  // namespace tunesmith
