// Coroutines by threads: one runs at a time, in a fixed order, while the others wait for measurements.
#pragma once

#include <condition_variable>
#include <deque>
#include <exception>
#include <functional>
#include <memory>
#include <mutex>
#include <optional>
#include <thread>

namespace tunesmith {

/// Runs works in separate threads, one at a time: only the holder of the baton runs. A work returns the baton
/// while it waits, in apart(). The work that began to wait first continues next, even if another's wait ended
/// earlier, so that the order does not depend on the durations of waits. A single work needs no thread. Used
/// by one thread.
class Relay {
 public:
  explicit Relay(size_t at_once);
  ~Relay();
  Relay(const Relay&) = delete;
  Relay& operator=(const Relay&) = delete;

  bool full() const { return lanes_.size() >= at_once_; }
  bool empty() const { return lanes_.empty(); }

  /// Runs `work` until it waits or is done. Not when full().
  void begin(size_t name, std::function<void()> work);
  /// Continues the work that has waited longest, until it waits again or is done. Returns a finished work and
  /// its exception. Not when empty().
  struct Done {
    size_t name = 0;
    std::exception_ptr error;
  };
  std::optional<Done> go_on();
  /// Ends the works after their waits: apart() throws in each. The destructor does the same.
  void end();
  /// Called by works: gives the baton back during `wait`.
  void apart(const std::function<void()>& wait);

 private:
  struct Lane {
    size_t name = 0;
    std::function<void()> work;
    bool has_baton = false;
    bool wants_baton = false;  // its wait is over
    bool done = false;
    std::exception_ptr error;
    std::thread thread;
  };

  static void run_here(Lane& lane);
  void run(Lane& lane);

  const size_t at_once_;
  std::mutex mutex_;
  std::condition_variable changed_;
  std::deque<std::unique_ptr<Lane>> lanes_;  // in the order in which they continue
  Lane* running_ = nullptr;                  // the one that holds the baton
  bool ended_ = false;
};

}  // namespace tunesmith
