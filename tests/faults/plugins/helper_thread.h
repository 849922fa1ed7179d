// A thread of a vendor's runtime.
#pragma once

#include <condition_variable>
#include <functional>
#include <mutex>
#include <thread>
#include <utility>

namespace tunesmith::test {

/// A thread that works during calls and continues after their return.
class Helper {
 public:
  static Helper& one() {
    static Helper* const helper = new Helper;  // its thread never ends
    return *helper;
  }
  bool busy() {
    const std::lock_guard lock(mutex_);
    return static_cast<bool>(job_);
  }
  void begin(std::function<void()> job) {
    while (busy()) std::this_thread::yield();
    const std::lock_guard lock(mutex_);
    job_ = std::move(job);
    there_is_one_.notify_one();
  }

 private:
  Helper() { std::thread(&Helper::serve, this).detach(); }
  void serve() {
    for (std::unique_lock lock(mutex_);;) {
      there_is_one_.wait(lock, [&] { return static_cast<bool>(job_); });
      const std::function<void()> job = job_;
      lock.unlock();
      job();
      lock.lock();
      job_ = nullptr;
    }
  }

  std::mutex mutex_;
  std::condition_variable there_is_one_;
  std::function<void()> job_;
};

}  // namespace tunesmith::test
