// Detects changes that a candidate makes to its process beyond its buffers.
#pragma once

#include <array>
#include <cstdint>
#include <map>
#include <optional>
#include <string>
#include <vector>

#include <signal.h>
#include <sys/types.h>

#include "tunesmith/verification/float_mode_watch.h"
#include "worker/foreign_threads.h"

namespace tunesmith {

/// The signals that this thread blocks, and the handler of each.
struct SignalState {
  static SignalState now();
  /// Restores what differs from this.
  void restore() const;

  sigset_t blocked{};
  std::array<struct sigaction, NSIG> handlers{};
};

/// The blocked signals of existing threads: bit n - 1 is signal n.
using BlockedSignals = std::map<pid_t, uint64_t>;
BlockedSignals blocked_signals(const std::vector<pid_t>& threads);
/// "has one of the worker's threads block signal 15 (Terminated)";
/// nothing if none blocks more than before. A thread that had just
/// started blocked all signals then, and unblocks inherited ones.
std::optional<std::string> newly_blocked(const BlockedSignals& before, const BlockedSignals& after,
                                         uint64_t inherited);

/// "blocks signal 15 (Terminated)", "changed what happens at
/// signal 11 (Segmentation fault)"; nothing if both are equal.
std::optional<std::string> signals_changed(const SignalState& before, const SignalState& after);

/// The number of descriptors and threads that all candidates together
/// may leave in a worker: a runtime creates some once and keeps them.
inline constexpr size_t kMaxKeptDescriptors = 64;
size_t max_kept_threads();

/// Begins before a candidate is loaded. Resources created by a first call for later ones (a
/// pool of sleeping threads, an open file) may stay; those created by every call may not.
class ProcessWatch {
 public:
  /// `descriptors`: those of the worker before its first candidate, in ascending order.
  ProcessWatch(tunesmith_runtime_pool* pool, const ForeignThreads& threads,
               const std::vector<int>& descriptors);

  /// Everything created so far was created once.
  void first_calls_done();
  /// Changes by calls since then, in one line.
  std::optional<std::string> changed_by_calls();
  /// After unloading the candidate: what it has left behind, in one
  /// line. Restores this thread's signals and floating-point mode.
  std::optional<std::string> left_behind();

 private:
  /// On the worker's other threads, whose signals can neither be queried nor restored.
  std::optional<std::string> blocked_elsewhere() const;

  const ForeignThreads& threads_;
  const std::vector<int>& descriptors_;
  FloatModeWatch float_mode_;
  SignalState signals_;
  BlockedSignals blocked_before_;
  std::vector<int> descriptors_before_;
  size_t first_threads_ = 0;
  size_t first_descriptors_ = 0;
};

}  // namespace tunesmith
