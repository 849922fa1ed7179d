// Calls a kernel after poisoning memory and registers, so that unwritten ones do not look like results.
#pragma once

#include <cstddef>
#include <optional>
#include <string>

#include "worker/time_kernel.h"

namespace tunesmith {

/// The seconds of one call. Fills the stacks of all threads (where the kernel's frames will be) and the
/// vector registers with `poison` before it, and the registers again whenever the kernel continues on another
/// thread. The caller fills the buffers.
double time_poisoned(const KernelCall& call, std::byte poison);

/// The caller's state that such calls have changed since this was last called, in one line.
std::optional<std::string> take_caller_state_change();

}  // namespace tunesmith
