// Whether a time was taken while something else used the machine: what the worker sees of it, and what the
// tuner makes of that.
#pragma once

#include <cstddef>
#include <deque>
#include <functional>
#include <span>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/target/runtime.h"

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
class DisturbanceJudge {
 public:
  /// Is it the reading of a disturbed moment? Remembers it.
  bool disturbed(const Reading& reading);
  /// False while most moments are disturbed: measuring again would not end.
  bool worth_repeating() const;

 private:
  std::deque<double> calibrations_;  // the last ones
  std::deque<bool> verdicts_;        // likewise
};

/// Measures again what was measured in a disturbed moment, at most twice, while that is worth it and `go_on`:
/// `measure(i)` is asked for the i-th anew. The time kept is the first of a quiet moment, else the shortest.
/// A failure that it shows only then is its failure, unless a busy machine may be the cause.
void repeat_disturbed(std::span<MeasureResult> results, const DisturbanceJudge& judge,
                      const std::function<MeasureResult(size_t)>& measure,
                      const std::function<bool()>& go_on);

}  // namespace tunesmith
