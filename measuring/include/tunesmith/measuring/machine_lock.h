// Runs on one machine take turns at measuring: two that measure at once measure each other.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

/// One lock for all users of the machine: flock() on a file in a folder that all may write to. The system
/// releases it when its holder dies. Nothing is ever written to the file. Used by one thread.
class MachineLock {
 public:
  /// Who measures is alone. Heavy work that is not timed (compiling) goes with its like, never beside who
  /// measures.
  enum class Use { Measure, Compute };

  /// As long as it lives the machine is the holder's; it may hold nothing (wait()).
  class Turn {
   public:
    Turn() = default;
    explicit operator bool() const { return held_ != nullptr; }

   private:
    friend class MachineLock;
    std::shared_ptr<const void> held_;
  };

  /// `say` is given one line for a person: at most once when a turn has to be waited for, and at most once
  /// when there is no lock to be had.
  explicit MachineLock(std::filesystem::path file = default_file(),
                       std::function<void(const std::string&)> say = {});

  /// Waits until the machine is free. Those who wait come before who had the last turn. The turn holds
  /// nothing when `stop` was set in the meantime, or when the lock cannot be had (no such folder, a file that
  /// is not ours to open): a run without turns is better than none. A thread that has a turn must not wait
  /// for another.
  Turn wait(Use use, const std::atomic<bool>* stop = nullptr);

  /// Spent in wait() so far.
  double waited_seconds() const { return waited_seconds_; }

  /// $TUNESMITH_MACHINE_LOCK; else tunesmith.lock in the first of /run/lock and /tmp that is everybody's, so
  /// that all users of a machine agree.
  static std::filesystem::path default_file();

 private:
  std::shared_ptr<const void> lock(const std::filesystem::path& file, int operation,
                                   const std::atomic<bool>* stop);

  std::filesystem::path file_;
  std::function<void(const std::string&)> say_;
  bool said_waiting_ = false;
  bool said_missing_ = false;
  double waited_seconds_ = 0.0;
};

}  // namespace tunesmith
#pragma GCC visibility pop
