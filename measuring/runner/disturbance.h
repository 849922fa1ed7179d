// Detects whether something else used the machine while a time
// was taken: the worker's readings, and the tuner's verdict.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <sys/types.h>

#include "tunesmith/measure/runner.h"
#include "tunesmith/runtime/pool.h"

namespace tunesmith {

/// For a stretch of time in the worker.
struct Reading {
  /// The duration of a fixed piece of work on all threads, the longer of
  /// before and after: shows slow clocks, a shared core, a hypervisor.
  double calibration = 0.0;
  /// The share of time in which a runnable thread waited for another
  /// process, the maximum over threads; 0 if the system does not tell.
  double waited = 0.0;
};

/// The seconds that each thread of a process waited while another
/// process ran, by thread id; empty if the system does not tell.
std::map<std::string, double> waited_by_thread(pid_t process);

/// Takes readings; begin() and end() take about 0.1 ms together.
/// Covers the threads that exist at construction. Used by one thread.
class DisturbanceProbe {
 public:
  /// `pool` stays the caller's.
  explicit DisturbanceProbe(tunesmith_runtime_pool* pool);
  ~DisturbanceProbe();
  DisturbanceProbe(const DisturbanceProbe&) = delete;
  DisturbanceProbe& operator=(const DisturbanceProbe&) = delete;

  void begin();
  Reading end();

 private:
  double calibrate() const;
  std::vector<double> waited_seconds() const;

  tunesmith_runtime_pool* pool_;
  std::vector<int> threads_;  // descriptors of the threads' scheduling statistics
  double calibration_ = 0.0;
  double began_ = 0.0;
  std::vector<double> waited_;
};

/// Classifies moments as disturbed or quiet by earlier readings. It adapts:
/// a machine that is permanently slower counts as quiet after a while.
class DisturbanceDetector {
 public:
  /// Is it the reading of a disturbed moment? Remembers it.
  bool disturbed(const Reading& reading);
  /// Classifies a stretch of `seconds` without a reading by the
  /// threads' waiting times before and after; nothing if unknown.
  static std::optional<bool> disturbed(const std::map<std::string, double>& before,
                                       const std::map<std::string, double>& after, double seconds);
  /// False while most moments are disturbed: measuring again would not end.
  bool worth_repeating() const;

 private:
  std::deque<double> calibrations_;  // the last ones
  std::deque<bool> verdicts_;        // likewise
};

/// Repeats disturbed measurements, at most twice, while that is worthwhile and `go_on`:
/// `measure(i)` repeats the i-th. Keeps the first quiet time, else the shortest. A failure that
/// occurs only in a repetition counts, unless a busy machine may have caused it. Times too far
/// above `best_seconds` to be explained by disturbances are not repeated; with 0 all are.
void repeat_disturbed(std::span<MeasureResult> results, const DisturbanceDetector& detector,
                      double best_seconds, const std::function<MeasureResult(size_t)>& measure,
                      const std::function<bool()>& go_on);

}  // namespace tunesmith
