#include "plugin/watch.h"

#include <atomic>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <unistd.h>

#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/registry.h"

namespace tunesmith {

/// The calls under way, the eldest last, and the thread that looks at them.
class Watchman {
 public:
  /// Never destroyed: calls may be under way while the process ends.
  static Watchman& get() {
    static auto* const watchman = new Watchman;
    return *watchman;
  }

  bool on() const { return seconds_.load(std::memory_order_relaxed) > 0; }

  void start(int seconds) {
    const int before = seconds_.exchange(seconds);
    if (seconds > 0 && before == 0 && !started_.exchange(true)) std::thread([this] { look(); }).detach();
  }

  void enter(PluginWatch& watch) {
    const std::lock_guard lock(mutex_);
    watch.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &watch;
    first_ = &watch;
  }

  void leave(PluginWatch& watch) {
    const std::lock_guard lock(mutex_);
    (watch.previous_ != nullptr ? watch.previous_->next_ : first_) = watch.next_;
    if (watch.next_ != nullptr) watch.next_->previous_ = watch.previous_;
  }

 private:
  [[noreturn]] void look() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(250));
      const int seconds = seconds_;
      if (seconds == 0) continue;
      const auto too_old = std::chrono::steady_clock::now() - std::chrono::seconds(seconds);
      const std::lock_guard lock(mutex_);
      for (const PluginWatch* watch = first_; watch != nullptr; watch = watch->next_) {
        if (watch->since_ < too_old) end_process(*watch, seconds);
      }
    }
  }

  [[noreturn]] static void end_process(const PluginWatch& watch, int seconds) {
    constexpr int kEnvironmentFault = 4;  // the exit code
    const std::string text = fmt::format(
        "tunesmith: {}: [P22] {} has not returned in {} seconds; everything measured is recorded\n",
        plugin_name(watch.kind_, watch.id_), watch.call_, seconds);
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    _exit(kEnvironmentFault);
  }

  std::atomic<int> seconds_ = 0;
  std::atomic<bool> started_ = false;
  std::mutex mutex_;
  PluginWatch* first_ = nullptr;
};

void end_process_when_plugins_hang(int seconds) { Watchman::get().start(seconds); }

PluginWatch::PluginWatch(PluginKind kind, std::string_view id, std::string_view call)
    : kind_(kind), id_(id), call_(call), watched_(Watchman::get().on()) {
  if (!watched_) return;
  since_ = std::chrono::steady_clock::now();
  Watchman::get().enter(*this);
}

PluginWatch::~PluginWatch() {
  if (watched_) Watchman::get().leave(*this);
}

}  // namespace tunesmith
