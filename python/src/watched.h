// Long work on a thread of its own, while the calling thread answers signals.
#pragma once

#include <atomic>
#include <condition_variable>
#include <exception>
#include <functional>
#include <mutex>
#include <thread>

namespace tunesmith::python {

/// A thread that does one piece of work after another. Workers that it has started live no longer than it
/// does, so a task has one for as long as it lives.
class WorkThread {
 public:
  WorkThread();
  /// To be called with the interpreter's lock, and after the end of all work.
  ~WorkThread();
  WorkThread(const WorkThread&) = delete;
  WorkThread& operator=(const WorkThread&) = delete;

  /// Does `work` without the interpreter's lock, and returns when it has ended. Each 100 ms, and once at the
  /// end, `poll` is called on the calling thread, and signals are answered: Ctrl-C sets `stop`, for the work
  /// to end with what it has; what any other handler of Python's, or `poll`, throws sets it too, and is
  /// thrown when the work has ended, as a second Ctrl-C is. What `work` throws is thrown. Answers whether
  /// Ctrl-C stopped it. Called by one thread at a time.
  bool run(const std::function<void()>& work, std::atomic<bool>& stop, const std::function<void()>& poll);

 private:
  void loop();
  bool ended();

  std::mutex mutex_;
  std::condition_variable changed_;
  const std::function<void()>* work_ = nullptr;  // under way; null: none
  std::exception_ptr failure_;                   // of the last work
  bool leaving_ = false;
  std::thread thread_;
};

}  // namespace tunesmith::python
