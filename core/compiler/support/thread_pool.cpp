#include "tunesmith/support/thread_pool.h"

#include <atomic>
#include <condition_variable>
#include <exception>
#include <limits>
#include <mutex>
#include <thread>
#include <vector>

#include <sched.h>

namespace tunesmith {

struct ThreadPool::State {
  std::mutex mutex;
  std::condition_variable wake;
  std::condition_variable done;
  std::vector<std::thread> threads;
  const std::function<void(size_t)>* body = nullptr;
  size_t count = 0;
  std::atomic<size_t> next{0};
  size_t running = 0;
  uint64_t generation = 0;
  bool stop = false;
  std::exception_ptr error;
  size_t error_index = std::numeric_limits<size_t>::max();

  void work() {
    for (size_t i = next.fetch_add(1); i < count; i = next.fetch_add(1)) {
      try {
        (*body)(i);
      } catch (const std::exception&) {
        const std::lock_guard lock(mutex);
        if (i < error_index) {
          error_index = i;
          error = std::current_exception();
        }
      }
    }
  }
};

ThreadPool::ThreadPool(size_t threads) : state_(std::make_unique<State>()) {
  const size_t size = threads == 0 ? available_processors() : threads;
  // The caller of parallel_for works, too, so one thread fewer is started.
  for (size_t i = 1; i < size; ++i) {
    state_->threads.emplace_back([state = state_.get()] {
      uint64_t seen = 0;
      std::unique_lock lock(state->mutex);
      for (;;) {
        state->wake.wait(lock, [&] { return state->stop || state->generation != seen; });
        if (state->stop) return;
        seen = state->generation;
        lock.unlock();
        state->work();
        lock.lock();
        if (--state->running == 0) state->done.notify_all();
      }
    });
  }
}

ThreadPool::~ThreadPool() {
  {
    const std::lock_guard lock(state_->mutex);
    state_->stop = true;
  }
  state_->wake.notify_all();
  for (std::thread& thread : state_->threads) thread.join();
}

size_t ThreadPool::size() const { return state_->threads.size() + 1; }

void ThreadPool::parallel_for(size_t count, const std::function<void(size_t)>& body) {
  {
    const std::lock_guard lock(state_->mutex);
    state_->body = &body;
    state_->count = count;
    state_->next = 0;
    state_->error = nullptr;
    state_->error_index = std::numeric_limits<size_t>::max();
    state_->running = state_->threads.size();
    ++state_->generation;
  }
  state_->wake.notify_all();
  state_->work();
  std::unique_lock lock(state_->mutex);
  state_->done.wait(lock, [&] { return state_->running == 0; });
  if (state_->error) std::rethrow_exception(state_->error);
}

size_t available_processors() {
  cpu_set_t set;
  CPU_ZERO(&set);
  if (sched_getaffinity(0, sizeof set, &set) != 0) return 1;
  const int count = CPU_COUNT(&set);
  return count > 0 ? static_cast<size_t>(count) : 1;
}

}  // namespace tunesmith
