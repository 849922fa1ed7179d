// Detects calls that change a thread's floating-point mode.
#pragma once

#include <cstdint>

#include "tunesmith/runtime/pool.h"

namespace tunesmith {

/// A changed rounding mode would make correct programs wrong
/// afterwards. Used on the thread that makes the calls.
class FloatModeWatch {
 public:
  /// `pool`: runs the calls' loops; null if they stay on this thread.
  explicit FloatModeWatch(tunesmith_runtime_pool* pool)
      : pool_(pool), found_(tunesmith_runtime_float_mode()) {
    if (pool_ != nullptr) tunesmith_runtime_pool_take_mode_change(pool_);
  }

  /// Was a thread's mode changed since the last call?
  /// Restores this thread's mode; a pool restores its own.
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
