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

/// Works run in threads of their own, one at a time: who holds the baton. A work gives it back while it
/// waits, in apart(). The work that has waited longest continues next, even if another's wait ended earlier:
/// so the order does not depend on how long waits take. With one work at once there is no thread. Used by one
/// thread.
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
  /// Continues the work that has waited longest, until it waits again or is done. Returns a work that is
  /// done, with what it threw. Not when empty().
  struct Done {
    size_t name = 0;
    std::exception_ptr error;
  };
  std::optional<Done> go_on();
  /// Waits for all waits and ends the works: their apart() throws. So does the destructor.
  void end();
  /// Called by works: waits without the baton.
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
  std::deque<std::unique_ptr<Lane>> lanes_;  // in the order in which they go on
  Lane* running_ = nullptr;                  // who has the baton
  bool ended_ = false;
};

}  // namespace tunesmith
