// The threads by which candidates are verified.
#pragma once

#include "tunesmith/runtime/pool.h"

namespace tunesmith {

/// A pool of at least two threads, which have small stacks like a
/// library's caller may have. Null if there is not enough memory.
tunesmith_runtime_pool* make_verifying_pool(int threads);

}  // namespace tunesmith
