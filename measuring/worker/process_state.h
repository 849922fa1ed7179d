// What a candidate changes in the process that runs it, beyond its buffers.
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

/// Which signals this thread blocks and who handles each.
struct SignalState {
  static SignalState now();
  /// Sets back what differs from this.
  void restore() const;

  sigset_t blocked{};
  std::array<struct sigaction, NSIG> handlers{};
};

/// Of each of these threads that there is, which signals it blocks: bit n - 1 is signal n.
using BlockedSignals = std::map<pid_t, uint64_t>;
BlockedSignals blocked_signals(const std::vector<pid_t>& threads);
/// "has one of the worker's threads block signal 15 (Terminated)"; nothing where none blocks more than
/// before. One that had only just been started blocked all of them then: it begins with those that it has
/// inherited.
std::optional<std::string> newly_blocked(const BlockedSignals& before, const BlockedSignals& after,
                                         uint64_t inherited);

/// "blocks signal 15 (Terminated)", "changed what happens at signal 11 (Segmentation
/// fault)"; nothing where both are equal.
std::optional<std::string> signals_changed(const SignalState& before, const SignalState& after);

/// So many descriptors and threads may stay behind in a worker, of all its candidates together: what a
/// runtime makes once and keeps.
inline constexpr size_t kMaxKeptDescriptors = 64;
size_t max_kept_threads();

/// Begins before a candidate is loaded. What a first call makes for later ones (a pool whose threads sleep,
/// an open file) may stay; what each call makes may not, since it never ends.
class ProcessWatch {
 public:
  /// `descriptors`: that the worker had before its first candidate, in ascending order.
  ProcessWatch(tunesmith_runtime_pool* pool, const ForeignThreads& threads,
               const std::vector<int>& descriptors);

  /// What has been made until now was made once.
  void first_calls_done();
  /// What the calls since then have changed; one line.
  std::optional<std::string> changed_by_calls();
  /// After the candidate has been unloaded: what it has left behind; one line. This thread's signals and
  /// floating-point mode are set back.
  std::optional<std::string> left_behind();

 private:
  /// On the worker's other threads, which cannot be asked, nor set back.
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
