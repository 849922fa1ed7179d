// Initialises the memory of a call.
#pragma once

#include <cstring>

#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith::network {

/// A NaN in each floating-point type, so that reading uninitialised memory shows in the results.
inline void fill_with_nan(GuardedBuffer& memory) {
  std::memset(memory.data(), 0xff, static_cast<size_t>(memory.bytes()));
}

}  // namespace tunesmith::network
