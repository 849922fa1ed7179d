#pragma once

#include <chrono>

#pragma GCC visibility push(default)
namespace tunesmith {

/// The monotonic clock, since a moment that is fixed for the process.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tunesmith
#pragma GCC visibility pop
