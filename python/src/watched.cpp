#include "watched.h"

#include <chrono>

#include <nanobind/nanobind.h>

namespace tunesmith::python {

namespace nb = nanobind;

namespace {

constexpr auto kPollEvery = std::chrono::milliseconds(100);

}  // namespace

WorkThread::WorkThread() : thread_([this] { loop(); }) {}

WorkThread::~WorkThread() {
  const nb::gil_scoped_release unlocked;
  {
    const std::lock_guard lock(mutex_);
    leaving_ = true;
  }
  changed_.notify_all();
  thread_.join();
}

void WorkThread::loop() {
  std::unique_lock lock(mutex_);
  while (true) {
    changed_.wait(lock, [this] { return leaving_ || work_ != nullptr; });
    if (leaving_) return;
    const std::function<void()>& work = *work_;
    lock.unlock();
    std::exception_ptr failure;
    try {
      work();
    } catch (...) {
      failure = std::current_exception();
    }
    lock.lock();
    failure_ = failure;
    work_ = nullptr;
    changed_.notify_all();
  }
}

/// Waits, without the interpreter's lock, for the end of the work or the next poll.
bool WorkThread::ended() {
  const nb::gil_scoped_release unlocked;
  std::unique_lock lock(mutex_);
  return changed_.wait_for(lock, kPollEvery, [this] { return work_ == nullptr; });
}

bool WorkThread::run(const std::function<void()>& work, std::atomic<bool>& stop,
                     const std::function<void()>& poll) {
  {
    const std::lock_guard lock(mutex_);
    work_ = &work;
  }
  changed_.notify_all();
  bool interrupted = false;
  std::exception_ptr thrown;
  // Ctrl-C may also arrive while a Python callback runs.
  const auto keep = [&](const auto& function) {
    try {
      function();
    } catch (const nb::python_error& error) {
      if (!interrupted && error.matches(PyExc_KeyboardInterrupt)) {
        interrupted = true;
      } else if (!thrown) {
        thrown = std::current_exception();
      }
      stop = true;
    } catch (...) {
      if (!thrown) thrown = std::current_exception();
      stop = true;
    }
  };
  const auto answer_signals = [] {
    if (PyErr_CheckSignals() != 0) throw nb::python_error();
  };
  while (!ended()) {
    if (!thrown) keep(poll);
    keep(answer_signals);
  }
  if (!thrown && !failure_) keep(poll);
  if (thrown) std::rethrow_exception(thrown);
  if (failure_) std::rethrow_exception(failure_);
  return interrupted;
}

}  // namespace tunesmith::python
