// The threads by which candidates are verified.
#pragma once

#include "tunesmith/runtime/pool.h"

namespace tunesmith {

/// A pool of so many threads, but of two at least; those that it starts have little stack, as a library's
/// caller may have. Null where there is no memory.
tunesmith_runtime_pool* make_verifying_pool(int threads);

}  // namespace tunesmith
