// When a run stops.
#pragma once

#include <algorithm>
#include <cstdint>
#include <string_view>

#include "measuring_watch.h"
#include "stopwatch.h"
#include "tunesmith/tuning/tuner.h"

namespace tunesmith {

/// Based on the options and the counts in `result`, which outlive it. Belongs to the run and its thread.
class StopRule {
 public:
  StopRule(const TuneOptions& options, const TuneHooks& hooks, TuneResult& result)
      : options_(options), hooks_(hooks), result_(result) {}

  /// The run's time counts while a Step exists; there is one at a time.
  class Step {
   public:
    explicit Step(StopRule& rule);
    ~Step() { rule_.step_ = nullptr; }
    Step(const Step&) = delete;
    Step& operator=(const Step&) = delete;

   private:
    friend class StopRule;
    StopRule& rule_;
    const Stopwatch watch_;
    const WaitingWatch waiting_;
  };
  bool in_step() const { return step_ != nullptr; }

  /// Was a stop requested?
  bool stopped() const { return hooks_.stop != nullptr && hooks_.stop->load(); }
  /// The limit of time is over.
  bool late() const { return options_.time_limit_seconds > 0 && seconds() > options_.time_limit_seconds; }
  /// All trials are made.
  bool enough() const { return left() <= 0; }
  /// The duration of steps so far, in seconds.
  double seconds() const { return result_.times.wall + (step_ != nullptr ? step_->watch_.seconds() : 0.0); }

  int64_t trials() const { return result_.trials; }
  /// The remaining trials of the run.
  int64_t left() const { return options_.trials - result_.trials; }
  /// The remaining trials before `end`, or before the run's end if that is earlier.
  int64_t room(int64_t end) const { return stopped() ? 0 : std::min(end, options_.trials) - result_.trials; }

  /// The reason for the end of a finished run, as recorded.
  std::string_view why_ended() const;

 private:
  const TuneOptions& options_;
  const TuneHooks& hooks_;
  TuneResult& result_;
  const Step* step_ = nullptr;  // under way
};

}  // namespace tunesmith
