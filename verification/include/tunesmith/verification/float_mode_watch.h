// Calls that leave a thread in another floating-point mode.
#pragma once

#include <cstdint>

#include "tunesmith/runtime/pool.h"

namespace tunesmith {

/// What a call that rounds differently leaves behind would make right programs wrong after it. Used on the
/// thread that makes the calls.
class FloatModeWatch {
 public:
  /// `pool`: where the loops of the calls run; null when they stay on this thread.
  explicit FloatModeWatch(tunesmith_runtime_pool* pool)
      : pool_(pool), found_(tunesmith_runtime_float_mode()) {
    if (pool_ != nullptr) tunesmith_runtime_pool_take_mode_change(pool_);
  }

  /// Has a thread been left in another mode since the last question? Sets this thread back; a pool does so
  /// by itself.
  bool take_change() {
    const bool here = tunesmith_runtime_float_mode() != found_;
    if (here) tunesmith_runtime_set_float_mode(found_);
    return (pool_ != nullptr && tunesmith_runtime_pool_take_mode_change(pool_) != 0) || here;
  }

 private:
  tunesmith_runtime_pool* pool_;
  uint64_t found_;
};

inline constexpr const char* kFloatModeChanged =
    "left a thread with another floating-point mode: direction of rounding, subnormal numbers or traps";

}  // namespace tunesmith
