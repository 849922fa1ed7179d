#include "tunesmith/plugin/watch.h"

#include <array>
#include <atomic>
#include <cstdio>
#include <mutex>
#include <thread>

#include <fmt/format.h>
#include <pthread.h>
#include <signal.h>
#include <unistd.h>

#include "plugin/fatal_signals.h"
#include "tunesmith/plugin/error.h"
#include "tunesmith/plugin/registry.h"

namespace tunesmith {
namespace {

constexpr int kLooksPerSecond = 10;
constexpr int kWaitingCounts = 10;  // checks that count as one while the kernel works for the plugin

/// A signal handler reads it, so it must not be created at first use.
[[gnu::tls_model("initial-exec")]] thread_local PluginWatch* t_at_work = nullptr;

/// Resident memory of this process in bytes.
int64_t resident_bytes() {
  int64_t pages = 0;
  if (std::FILE* file = std::fopen("/proc/self/statm", "re"); file != nullptr) {
    int64_t all = 0;
    if (std::fscanf(file, "%ld %ld", &all, &pages) != 2) pages = 0;
    std::fclose(file);
  }
  return pages * sysconf(_SC_PAGESIZE);
}

}  // namespace

/// Knows the running calls, the newest first, and has a thread that checks them.
class Watchman {
 public:
  /// Never destroyed: calls may still run while the process ends.
  static Watchman& get() {
    static auto* const watchman = new Watchman;
    return *watchman;
  }

  bool on() const { return started_.load(std::memory_order_relaxed); }

  int seconds() {
    const std::lock_guard lock(mutex_);
    return limits_.seconds;
  }

  void start(const PluginLimits& limits) {
    {
      const std::lock_guard lock(mutex_);
      limits_ = limits;
    }
    if (started_.exchange(true)) return;
    // A forked child has no thread that would release a mutex which another thread held at the fork.
    pthread_atfork([] { get().mutex_.lock(); }, [] { get().mutex_.unlock(); }, [] { get().mutex_.unlock(); });
    name_plugin_at_fatal_signals(&Watchman::tell_of_signal);
    std::thread([this] { look(); }).detach();
  }

  void enter(PluginWatch& watch) {
    prepare_thread_for_fatal_signals();
    const std::lock_guard lock(mutex_);
    if (watch.outer_ != nullptr) ++watch.outer_->pauses_;
    watch.resident_ = resident_;
    watch.next_ = first_;
    if (first_ != nullptr) first_->previous_ = &watch;
    first_ = &watch;
  }

  void leave(PluginWatch& watch) {
    const std::lock_guard lock(mutex_);
    if (watch.outer_ != nullptr) --watch.outer_->pauses_;
    (watch.previous_ != nullptr ? watch.previous_->next_ : first_) = watch.next_;
    if (watch.next_ != nullptr) watch.next_->previous_ = watch.previous_;
  }

  void pause(PluginWatch& watch, int more) {
    const std::lock_guard lock(mutex_);
    watch.pauses_ += more;
  }

 private:
  /// Measures time in checks, so that a process that was stopped for a while ages no call.
  [[noreturn]] void look() {
    for (;;) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1000 / kLooksPerSecond));
      const int64_t resident = resident_bytes();
      const std::lock_guard lock(mutex_);
      resident_ = resident;
      const PluginWatch* greedy = nullptr;
      for (PluginWatch* watch = first_; watch != nullptr; watch = watch->next_) {
        ++watch->all_looks_;
        if (watch->pauses_ > 0 || is_given_up(*watch)) continue;
        ++watch->own_looks_;
        // Blames the oldest of the calls during which the process grew.
        if (limits_.memory_bytes > 0 && resident - watch->resident_ > limits_.memory_bytes) greedy = watch;
      }
      if (greedy != nullptr) {
        constexpr double kGibibyte = 1024.0 * 1024.0 * 1024.0;
        end_process(*greedy, fmt::format("allocated {:.1f} GiB of memory",
                                         static_cast<double>(resident - greedy->resident_) / kGibibyte));
      }
      if (limits_.seconds == 0) continue;
      const int most = limits_.seconds * kLooksPerSecond;
      for (const PluginWatch* watch = first_; watch != nullptr; watch = watch->next_) {
        if (is_given_up(*watch)) continue;
        if (watch->own_looks_ > most) {
          if (give_up(*watch)) continue;
          end_process(*watch, fmt::format("has not returned in {} seconds", limits_.seconds));
        }
        if (watch->all_looks_ / kWaitingCounts > most) {
          if (give_up(*watch)) continue;
          end_process(*watch,
                      fmt::format("has not returned in {} seconds, including the kernel's work for it",
                                  limits_.seconds * kWaitingCounts));
        }
      }
    }
  }

  static bool is_given_up(const PluginWatch& watch) { return watch.given_up_ != nullptr && *watch.given_up_; }

  /// Abandons the call, if its caller can do without the result.
  static bool give_up(const PluginWatch& watch) {
    if (watch.given_up_ != nullptr) *watch.given_up_ = true;
    return watch.given_up_ != nullptr;
  }

  [[noreturn]] static void end_process(const PluginWatch& watch, const std::string& how) {
    constexpr int kEnvironmentFault = 4;  // the exit code
    const std::string text = fmt::format("tunesmith: {}: [P22] {} {}; all measurements are recorded\n",
                                         plugin_name(watch.kind_, watch.id_), watch.call_, how);
    static_cast<void>(!write(STDERR_FILENO, text.data(), text.size()));
    _exit(kEnvironmentFault);
  }

  /// Runs in a signal handler: fixed memory, no locks, one write per piece.
  static void tell_of_signal(const char* signal) {
    const auto say = [](std::string_view piece) {
      static_cast<void>(!write(STDERR_FILENO, piece.data(), piece.size()));
    };
    const PluginWatch* watch = t_at_work;
    say("\ntunesmith: ");
    if (watch == nullptr || watch->pauses_ > 0) {
      say("internal error in Tunesmith or in a program that it runs: ");
      say(signal);
      if (watch != nullptr) say(", while working for ");
    }
    if (watch != nullptr) {
      say(kind_name(watch->kind_));
      say(" '");
      say(watch->id_);
      say("'");
      if (watch->pauses_ == 0) {
        say(": [P12] ");
        say(watch->call_);
        say(" ended the process by: ");
        say(signal);
      }
    }
    say("; all measurements are recorded\n");
  }

  std::mutex mutex_;
  std::atomic<bool> started_ = false;
  PluginLimits limits_;
  int64_t resident_ = resident_bytes();
  PluginWatch* first_ = nullptr;
};

void watch_plugins(const PluginLimits& limits) { Watchman::get().start(limits); }

std::string plugin_at_work() {
  const PluginWatch* watch = t_at_work;
  if (watch == nullptr) return "";
  return fmt::format("{}: [P12] {}", plugin_name(watch->kind_, watch->id_), watch->call_);
}

int plugin_seconds() { return Watchman::get().on() ? Watchman::get().seconds() : 0; }

PluginWatch::PluginWatch(PluginKind kind, std::string_view id, std::string_view call,
                         std::atomic<bool>* given_up)
    : kind_(kind),
      id_(id),
      call_(call),
      given_up_(given_up),
      outer_(t_at_work),
      watched_(Watchman::get().on()) {
  if (watched_) Watchman::get().enter(*this);
  t_at_work = this;
}

PluginWatch::~PluginWatch() {
  t_at_work = outer_;
  if (watched_) Watchman::get().leave(*this);
}

KernelWork::KernelWork() : outer_(t_at_work) {
  if (outer_ != nullptr) Watchman::get().pause(*outer_, 1);
}

KernelWork::~KernelWork() {
  if (outer_ != nullptr) Watchman::get().pause(*outer_, -1);
}

}  // namespace tunesmith
