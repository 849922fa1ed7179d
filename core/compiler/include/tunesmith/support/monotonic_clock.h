#pragma once

#include <chrono>

#pragma GCC visibility push(default)
namespace tunesmith {

/// Of the monotonic clock, since some moment that is the same for the whole process.
inline double now_seconds() {
  return std::chrono::duration<double>(std::chrono::steady_clock::now().time_since_epoch()).count();
}

}  // namespace tunesmith
#pragma GCC visibility pop
