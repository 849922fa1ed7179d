#pragma once

#include <chrono>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Seconds on the monotonic clock since its epoch, which is fixed during the process.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tunesmith
#pragma GCC visibility pop
