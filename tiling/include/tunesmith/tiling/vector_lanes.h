// The number of elements in a vector register.
#pragma once

#include <algorithm>
#include <cstdint>

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// 1 if an element is wider than the register. `vector_bits`: the machine's quantity of this name.
inline int64_t vector_lanes(DType type, int64_t vector_bits) {
  return std::max<int64_t>(1, vector_bits / type.bits);
}

/// For the type that the block writes.
inline int64_t vector_lanes(const Schedule& schedule, BlockRV block, int64_t vector_bits) {
  return vector_lanes(schedule.writes_of(block).front().buffer->dtype, vector_bits);
}

}  // namespace stable
}  // namespace tunesmith
