// Memory of a call before it begins.
#pragma once

#include <cstring>

#include "tunesmith/verification/guarded_buffer.h"

namespace tunesmith::network {

/// A NaN in each type of float, so that what a call reads before it has written it shows.
inline void fill_with_nan(GuardedBuffer& memory) {
  std::memset(memory.data(), 0xff, static_cast<size_t>(memory.bytes()));
}

}  // namespace tunesmith::network
