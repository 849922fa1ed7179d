#include "worker/process_state.h"

#include <algorithm>
#include <bit>
#include <charconv>
#include <chrono>
#include <cstring>
#include <fstream>
#include <iterator>
#include <string_view>
#include <thread>

#include <fmt/format.h>
#include <pthread.h>
#include <unistd.h>

#include "worker/numbered_entries.h"

namespace tunesmith {
namespace {

constexpr const char* kDescriptors = "/proc/self/fd";
/// A thread blocks these signals until it has begun: 1 to 31 without SIGKILL and SIGSTOP.
constexpr uint64_t kOfAStart = 0x7ffbfeff;
/// A thread that is starting another blocks all signals for a moment.
constexpr int kLooks = 5;
constexpr std::chrono::milliseconds kBetweenLooks{1};
/// A vendor's runtime may start this many threads on any machine.
constexpr size_t kFewThreads = 16;

/// The C library adds this flag whenever a handler is set.
constexpr int kRestorer = 0x04000000;

bool same(const struct sigaction& one, const struct sigaction& other) {
  return (one.sa_flags | kRestorer) == (other.sa_flags | kRestorer) && one.sa_handler == other.sa_handler;
}

std::string signal_text(int signal) { return fmt::format("signal {} ({})", signal, strsignal(signal)); }

}  // namespace

SignalState SignalState::now() {
  SignalState state;
  pthread_sigmask(SIG_SETMASK, nullptr, &state.blocked);
  // The C library's own signals return an error and stay empty.
  for (int signal = 1; signal < NSIG; ++signal)
    sigaction(signal, nullptr, &state.handlers[static_cast<size_t>(signal)]);
  return state;
}

void SignalState::restore() const {
  pthread_sigmask(SIG_SETMASK, &blocked, nullptr);
  const SignalState present = now();
  for (int signal = 1; signal < NSIG; ++signal) {
    const auto i = static_cast<size_t>(signal);
    if (!same(handlers[i], present.handlers[i])) sigaction(signal, &handlers[i], nullptr);
  }
}

std::optional<std::string> signals_changed(const SignalState& before, const SignalState& after) {
  for (int signal = 1; signal < NSIG; ++signal) {
    const int blocked = sigismember(&before.blocked, signal);
    if (blocked != sigismember(&after.blocked, signal))
      return fmt::format("{} {}", blocked == 0 ? "blocks" : "unblocks", signal_text(signal));
    const auto i = static_cast<size_t>(signal);
    if (!same(before.handlers[i], after.handlers[i]))
      return fmt::format("changed the handler of {}", signal_text(signal));
  }
  return std::nullopt;
}

BlockedSignals blocked_signals(const std::vector<pid_t>& threads) {
  constexpr std::string_view kField = "SigBlk:\t";
  BlockedSignals blocked;
  for (const pid_t thread : threads) {
    std::ifstream status(fmt::format("/proc/self/task/{}/status", thread));
    for (std::string line; std::getline(status, line);) {
      if (!line.starts_with(kField)) continue;
      uint64_t signals = 0;
      std::from_chars(line.data() + kField.size(), line.data() + line.size(), signals, 16);
      blocked.emplace(thread, signals);
      break;
    }
  }
  return blocked;
}

std::optional<std::string> newly_blocked(const BlockedSignals& before, const BlockedSignals& after,
                                         uint64_t inherited) {
  for (const auto& [thread, blocks] : after) {
    const auto found = before.find(thread);
    if (found == before.end() || found->second == blocks) continue;
    const bool just_started = (found->second & kOfAStart) == kOfAStart;
    const uint64_t more = blocks & ~(just_started ? inherited : found->second);
    if (more == 0) continue;
    return fmt::format("blocked {} in a thread of the worker", signal_text(std::countr_zero(more) + 1));
  }
  return std::nullopt;
}

size_t max_kept_threads() { return std::max<size_t>(kFewThreads, std::thread::hardware_concurrency()); }

ProcessWatch::ProcessWatch(tunesmith_runtime_pool* pool, const ForeignThreads& threads,
                           const std::vector<int>& descriptors)
    : threads_(threads),
      descriptors_(descriptors),
      float_mode_(pool),
      signals_(SignalState::now()),
      blocked_before_(blocked_signals(threads.own())),
      descriptors_before_(numbered_entries(kDescriptors)) {}

void ProcessWatch::first_calls_done() {
  first_threads_ = threads_.now().size();
  first_descriptors_ = numbered_entries(kDescriptors).size();
}

std::optional<std::string> ProcessWatch::changed_by_calls() {
  if (float_mode_.take_change()) return kFloatModeChanged;
  if (auto changed = signals_changed(signals_, SignalState::now())) return changed;
  if (const size_t threads = threads_.now().size(); threads > first_threads_) {
    return fmt::format("has {} threads more after further calls than after the first ones",
                       threads - first_threads_);
  }
  if (const size_t open = numbered_entries(kDescriptors).size(); open > first_descriptors_) {
    return fmt::format("has {} files more open after further calls than after the first ones",
                       open - first_descriptors_);
  }
  return std::nullopt;
}

std::optional<std::string> ProcessWatch::blocked_elsewhere() const {
  const auto here = blocked_before_.find(gettid());
  const uint64_t inherited = here == blocked_before_.end() ? 0 : here->second;
  std::optional<std::string> blocked;
  for (int look = 0; look < kLooks; ++look) {
    blocked = newly_blocked(blocked_before_, blocked_signals(threads_.own()), inherited);
    if (!blocked) break;
    std::this_thread::sleep_for(kBetweenLooks);
  }
  return blocked;
}

std::optional<std::string> ProcessWatch::left_behind() {
  const bool float_mode = float_mode_.take_change();
  const auto signals = signals_changed(signals_, SignalState::now());
  if (signals) signals_.restore();
  if (float_mode) return kFloatModeChanged;
  if (signals) return signals;
  if (auto blocked = blocked_elsewhere()) return blocked;
  const std::vector<int> open = numbered_entries(kDescriptors);
  std::vector<int> closed;
  std::ranges::set_difference(descriptors_before_, open, std::back_inserter(closed));
  if (!closed.empty()) return fmt::format("closed descriptor {}, which it did not open", closed.front());
  if (open.size() > descriptors_.size() + kMaxKeptDescriptors)
    return fmt::format("left open files: {} including earlier candidates'",
                       open.size() - descriptors_.size());
  if (const size_t threads = threads_.now().size(); threads > max_kept_threads())
    return fmt::format("left threads: {} including earlier candidates'", threads);
  if (!threads_.come_to_rest()) return "left a thread that keeps running";
  return std::nullopt;
}

}  // namespace tunesmith
