// Threads of the worker that a candidate, or its target, has started.
#pragma once

#include <chrono>
#include <vector>

#include <sys/types.h>

namespace tunesmith {

class ForeignThreads {
 public:
  /// Threads that there are now are the worker's own, and those of the device that its target has opened.
  ForeignThreads();

  /// The worker's own, in ascending order.
  const std::vector<pid_t>& own() const { return own_; }
  /// Those that there are now and that are not the worker's own, in ascending order.
  std::vector<pid_t> now() const;
  /// Waits until they sleep, if there are any. False when one of them keeps running, for longer than
  /// kMaxAwakeMilliseconds. One that is ready to run and gets no processor is waited for, up to a second or
  /// two.
  bool come_to_rest() const;
  /// Waits until none of them lives any more, but not for longer than this: who sleeps may wake by itself.
  void outlast(std::chrono::milliseconds limit) const;

 private:
  std::vector<pid_t> own_;  // ascending
};

/// Of a processor's time: a pool may spin before it sleeps.
inline constexpr int kMaxAwakeMilliseconds = 25;

}  // namespace tunesmith
