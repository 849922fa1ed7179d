// Makes runs on one machine take turns at measuring, so that they do not disturb each other.
#pragma once

#include <atomic>
#include <filesystem>
#include <functional>
#include <memory>
#include <string>

#pragma GCC visibility push(default)
namespace tunesmith {

/// One lock for all users of the machine: flock() on a file in a folder that all may write
/// to. The system releases it when the holder dies. The file stays empty. Used by one thread.
class MachineLock {
 public:
  /// Measure is exclusive. Compute, for heavy work that is not timed
  /// (compiling), is shared with other Compute but not with Measure.
  enum class Use { Measure, Compute };

  /// Holds the lock during its lifetime; it may hold nothing (wait()).
  class Turn {
   public:
    Turn() = default;
    explicit operator bool() const { return held_ != nullptr; }

   private:
    friend class MachineLock;
    std::shared_ptr<const void> held_;
  };

  /// `say` receives a line for the user: at most once when it has
  /// to wait, and at most once when the lock is not available.
  explicit MachineLock(std::filesystem::path file = default_file(),
                       std::function<void(const std::string&)> say = {});

  /// Waits for the machine. Waiting processes come before the previous holder.
  /// The turn holds nothing if `stop` was set meanwhile, or if the lock is not
  /// available (no such folder, no permission): the run then continues without
  /// turns. A thread that holds a turn must not wait for another.
  Turn wait(Use use, const std::atomic<bool>* stop = nullptr);

  /// The time spent in wait() so far.
  double waited_seconds() const { return waited_seconds_; }

  /// $TUNESMITH_MACHINE_LOCK; else tunesmith.lock in the first of /run/lock
  /// and /tmp that is writable for all, so that all users of a machine agree.
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
