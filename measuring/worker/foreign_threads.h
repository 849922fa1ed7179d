// Threads of the worker that a candidate or its target has started.
#pragma once

#include <chrono>
#include <vector>

#include <sys/types.h>

namespace tunesmith {

class ForeignThreads {
 public:
  /// The current threads are the worker's own, or those of the target's device.
  ForeignThreads();

  /// The worker's own, in ascending order.
  const std::vector<pid_t>& own() const { return own_; }
  /// The current threads that are not the worker's own, in ascending order.
  std::vector<pid_t> now() const;
  /// Waits until they sleep. False if one of them keeps running
  /// for longer than kMaxAwakeMilliseconds. Waits up to a second
  /// or two for a runnable thread that gets no processor.
  bool come_to_rest() const;
  /// Waits until they have ended, at most this long: sleeping threads may wake up by themselves.
  void outlast(std::chrono::milliseconds limit) const;

 private:
  std::vector<pid_t> own_;  // ascending
};

/// CPU time: a pool may spin before it sleeps.
inline constexpr int kMaxAwakeMilliseconds = 25;

}  // namespace tunesmith
