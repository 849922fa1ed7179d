#include "tunesmith/plugin/own_thread.h"

#include <chrono>
#include <condition_variable>
#include <cstdio>
#include <cstdlib>
#include <exception>
#include <mutex>
#include <utility>

#include <unistd.h>

#include "tunesmith/plugin/watch.h"

namespace tunesmith {
namespace {

/// The abandoned thread may still use objects, so destructors must not run.
void exit_without_cleaning_up() {
  static const int once = on_exit([](int status, void*) { std::fflush(nullptr), _exit(status); }, nullptr);
  static_cast<void>(once);
}

}  // namespace

PluginHang::PluginHang(PluginKind kind, const std::string& id, std::string how)
    : PluginError(kind, id, how), how_(std::move(how)) {}
PluginHang::~PluginHang() = default;

/// Shared with the thread, which may outlive its creator.
struct OwnThread::State {
  std::mutex mutex;
  std::condition_variable changed;
  std::function<void(std::atomic<bool>&)> work;  // null if there is none
  bool busy = false;
  bool end = false;
  std::exception_ptr failure;
  std::atomic<bool> given_up = false;
};

OwnThread::OwnThread() : state_(std::make_shared<State>()) {}

OwnThread::~OwnThread() {
  if (!thread_.joinable()) return;
  bool left_behind = false;
  {
    const std::lock_guard lock(state_->mutex);
    state_->end = true;
    left_behind = state_->busy;
  }
  state_->changed.notify_all();
  if (left_behind) {
    thread_.detach();
  } else {
    thread_.join();
  }
}

bool OwnThread::run(std::function<void(std::atomic<bool>& given_up)> work) {
  if (!thread_.joinable()) thread_ = std::thread([state = state_] { serve(*state); });
  const KernelWork waiting;  // for the requester of the call
  std::unique_lock lock(state_->mutex);
  state_->work = std::move(work);
  state_->busy = true;
  state_->changed.notify_all();
  while (state_->busy) {
    state_->changed.wait_for(lock, std::chrono::milliseconds(100));
    if (!state_->busy || !state_->given_up) continue;
    exit_without_cleaning_up();
    return false;
  }
  if (state_->failure) std::rethrow_exception(std::exchange(state_->failure, nullptr));
  return true;
}

void OwnThread::serve(State& state) {
  std::unique_lock lock(state.mutex);
  for (;;) {
    state.changed.wait(lock, [&] { return state.busy || state.end; });
    if (!state.busy) return;
    std::function<void(std::atomic<bool>&)> work = std::exchange(state.work, nullptr);
    lock.unlock();
    std::exception_ptr failure;
    try {
      work(state.given_up);
    } catch (...) {  // rethrown where the call was requested
      failure = std::current_exception();
    }
    work = nullptr;
    lock.lock();
    state.failure = failure;
    state.busy = false;
    state.changed.notify_all();
    if (state.end) return;
  }
}

}  // namespace tunesmith
