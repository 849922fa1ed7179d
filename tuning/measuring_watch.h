#pragma once

#include "stopwatch.h"
#include "tunesmith/measuring/machine_lock.h"

namespace tunesmith {

/// Adds to `total` the seconds that `machine` (null: none) spent waiting during its lifetime.
class WaitingWatch {
 public:
  WaitingWatch(double& total, const MachineLock* machine)
      : total_(total), machine_(machine), before_(waited_seconds()) {}
  ~WaitingWatch() { total_ += waited_seconds() - before_; }
  WaitingWatch(const WaitingWatch&) = delete;
  WaitingWatch& operator=(const WaitingWatch&) = delete;

 private:
  double waited_seconds() const { return machine_ == nullptr ? 0.0 : machine_->waited_seconds(); }

  double& total_;
  const MachineLock* machine_;
  const double before_;
};

/// Adds its lifetime in seconds to `total`, without the time that `machine` (null: none) spent waiting.
class MeasuringWatch {
 public:
  MeasuringWatch(double& total, const MachineLock* machine)
      : total_(total), machine_(machine), waited_(waited_seconds()), watch_(total) {}
  ~MeasuringWatch() { total_ -= waited_seconds() - waited_; }
  MeasuringWatch(const MeasuringWatch&) = delete;
  MeasuringWatch& operator=(const MeasuringWatch&) = delete;

 private:
  double waited_seconds() const { return machine_ == nullptr ? 0.0 : machine_->waited_seconds(); }

  double& total_;
  const MachineLock* machine_;
  const double waited_;
  const Stopwatch watch_;
};

}  // namespace tunesmith
