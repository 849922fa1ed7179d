// Whether a time was taken while something else used the machine: what the worker sees of it, and what the
// tuner makes of that.
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

/// Of a stretch of time in the worker.
struct Reading {
  /// Seconds of a fixed piece of work on all threads, the longer of before and after: shows slow clocks, a
  /// shared core, a hypervisor.
  double calibration = 0.0;
  /// Share of the time in which a thread was ready to run, and another process ran: the most of any thread. 0
  /// where the system does not tell.
  double waited = 0.0;
};

/// Seconds that each thread of a process was ready to run while another process ran, by the thread's number;
/// empty where the system does not tell.
std::map<std::string, double> waited_by_thread(pid_t process);

/// Takes readings; a begin() and an end() take about 0.1 ms together. Sees the threads that the process has
/// when it is made. Used by one thread.
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
  std::vector<int> threads_;  // descriptors of their scheduling statistics
  double calibration_ = 0.0;
  double began_ = 0.0;
  std::vector<double> waited_;
};

/// Tells disturbed moments from quiet ones by the readings before. What is usual adapts: a machine that is
/// slower for good is quiet again after a while.
class DisturbanceDetector {
 public:
  /// Is it the reading of a disturbed moment? Remembers it.
  bool disturbed(const Reading& reading);
  /// Is it, of a stretch of `seconds` that gave no reading: for how long did threads wait before and after?
  /// Nothing where that is not known.
  static std::optional<bool> disturbed(const std::map<std::string, double>& before,
                                       const std::map<std::string, double>& after, double seconds);
  /// False while most moments are disturbed: measuring again would not end.
  bool worth_repeating() const;

 private:
  std::deque<double> calibrations_;  // the last ones
  std::deque<bool> verdicts_;        // likewise
};

/// Measures again what was measured in a disturbed moment, at most twice, while that is worth it and `go_on`:
/// `measure(i)` is asked for the i-th anew. The time kept is the first of a quiet moment, else the shortest.
/// A failure that it shows only then is its failure, unless a busy machine may be the cause. What takes so
/// much longer than `best_seconds` that no disturbance explains it is left as it is; 0: nothing is.
void repeat_disturbed(std::span<MeasureResult> results, const DisturbanceDetector& detector,
                      double best_seconds, const std::function<MeasureResult(size_t)>& measure,
                      const std::function<bool()>& go_on);

}  // namespace tunesmith
