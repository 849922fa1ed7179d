// Counts a run's trials.
#pragma once

#include <cstdint>
#include <functional>
#include <utility>
#include <vector>

#include "leaders.h"
#include "tunesmith/search/task_scheduler.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

/// Counts into a TuneResult, which outlives it.
class TrialLog {
 public:
  TrialLog(TuneResult& result, int leaders) : result_(result), leaders_(leaders) {}

  enum class Kind : uint8_t {
    New,
    Recorded,  // measured before an interruption, at one of trial_ms()
    Again      // a trial of an earlier process that failed transiently
  };
  void add(const Measured& one, Kind kind);
  /// For a trial before an interruption that is measured again.
  void add_failed_before();
  /// A program that another run has measured.
  void add_of_others(const Measured& one);
  /// Counts a repeated proposal whose result is known.
  void repeat(const Measured& one);
  /// When a trial of an earlier process was measured, before it is added.
  void add_recorded_ms(int64_t time_ms) { trial_ms_.push_back(time_ms); }
  /// The program for TuneResult::baseline_seconds; call before adding it.
  void set_unscheduled(uint64_t lowered_hash) { unscheduled_ = lowered_hash; }
  void note_baseline(const Measured& one);

  /// Called after each add() and repeat().
  void report_to(std::function<void()> counted) { counted_ = std::move(counted); }

  /// The number of trials so far.
  int64_t trials() const { return result_.trials; }
  const Leaders& leaders() const { return leaders_; }
  /// When each trial was measured, as Record::time_ms.
  const std::vector<int64_t>& trial_ms() const { return trial_ms_; }
  /// Other runs' results count as known before the first trial.
  const std::vector<Improvement>& improvements() const { return improvements_; }

 private:
  void count(const Measured& one);
  void report() const {
    if (counted_) counted_();
  }

  TuneResult& result_;
  Leaders leaders_;
  std::vector<int64_t> trial_ms_;
  std::vector<Improvement> improvements_;
  std::function<void()> counted_;
  uint64_t unscheduled_ = 0;  // lowered hash; 0 when it cannot be lowered
};

}  // namespace tunesmith
