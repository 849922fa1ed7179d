// A thread pool for the tuner's own work (replay, lowering, compiling). Measured code has another pool.
#pragma once

#include <cstddef>
#include <functional>
#include <memory>

#pragma GCC visibility push(default)
namespace tunesmith {

class ThreadPool {
 public:
  /// `threads` = 0: one for each processor that this process may use.
  explicit ThreadPool(size_t threads = 0);
  ~ThreadPool();
  ThreadPool(const ThreadPool&) = delete;
  ThreadPool& operator=(const ThreadPool&) = delete;

  size_t size() const;

  /// Runs body(0) .. body(count - 1) in any order on any thread, and
  /// returns when all have finished. Results must go to slots chosen by
  /// the index. The first exception (lowest index) is then rethrown.
  void parallel_for(size_t count, const std::function<void(size_t)>& body);

 private:
  struct State;
  std::unique_ptr<State> state_;
};

/// The number of processors in this process's affinity mask, at least 1.
size_t available_processors();

}  // namespace tunesmith
#pragma GCC visibility pop
