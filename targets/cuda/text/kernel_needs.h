// What a launch's text needs besides itself.
#pragma once

#include <cstddef>

#include "tunesmith/ir/stmt.h"

namespace tunesmith::cuda {

/// Does it use tunesmith_device.cuh?
bool needs_header(const Stmt& launch);

/// Per-thread stack of the vendor's functions that it calls.
size_t stack_bytes(const Stmt& launch);

}  // namespace tunesmith::cuda
