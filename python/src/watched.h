// Runs long work on its own thread while the calling thread handles signals.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tunesmith::python {

/// A thread that does pieces of work one after another. Workers that it starts end with it, so a task keeps
/// one thread for its lifetime.
class WorkThread {
 public:
  WorkThread();
  /// Call with the interpreter's lock, after all work has ended.
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  /// Runs `work` without the interpreter's lock and returns when it has ended. Every 100 ms, and
  /// once at the end, calls `poll` on the calling thread and handles signals: Ctrl-C sets `stop`,
  /// so that the work ends with what it has; an exception of another Python handler or of `poll`
  /// sets it, too, and is thrown when the work has ended, as is a second Ctrl-C. Exceptions of
  /// `work` are rethrown. Returns whether Ctrl-C stopped it. Called by one thread at a time.
  bool run(const std::function<void()>& work, std::atomic<bool>& stop, const std::function<void()>& poll);

 private:
  void loop();
  bool ended();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;  // in progress; null: none
  std::exception_ptr failure_;                   // of the last work
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace tunesmith::python
