// Sets up a run of `tune` from Python's arguments.
#pragma once

#include <atomic>
#include <functional>
#include <memory>
#include <string>

#include <tunesmith/tuning/tuner.h>

#include "measuring.h"
#include "peaks.h"
#include "progress/progress.h"
#include "refs.h"
#include "tune_arguments.h"
#include "tune_setup.h"

namespace tunesmith::python {

/// Trials of a run with a time limit only.
inline constexpr int64_t kNoLimit = 1'000'000'000;

/// One workload in one space, with the store and the worker. Owns what it returns by reference.
class Setup {
 public:
  /// `stop` must outlive it. Throws as Space's constructor and cli::Measuring do.
  Setup(std::shared_ptr<HeldSpace> held, WorkloadPtr workload, const cli::TuneArguments& arguments,
        const std::atomic<bool>& stop);

  const Workload& workload() const { return *workload_; }
  const Space& space() const { return own_ ? *own_ : *held_->space; }
  RecordStore& store() { return store_; }
  Runner& runner() { return *runner_; }
  const Environment& environment() const { return measuring_.environment(); }
  const TuneOptions& options() const { return options_; }
  bool limited_by_trials() const { return limited_; }
  /// Operations per second, measured at the first call; 0 if the target has no peak kernel or is on another
  /// machine.
  double peak();

 private:
  std::shared_ptr<HeldSpace> held_;
  WorkloadPtr workload_;
  std::shared_ptr<MeasuringPlace> place_;
  std::shared_ptr<const Space>
      own_;  // with another searcher or model than the space's, or of another machine
  RecordStore store_;
  cli::Measuring measuring_;
  std::unique_ptr<Runner> runner_;
  bool limited_;
  TuneOptions options_;
};

/// The result of a run, with what is needed to make its programs.
struct ResultRef {
  TuneResult value;
  OriginalSpace space;
  WorkloadPtr workload;
  std::string database;
  bool modelled = false;  // its times are a model's
};

/// From the keywords that tune() and Task() share. Throws UserError for invalid values.
cli::TuneArguments arguments_from(const nb::kwargs& keywords);

}  // namespace tunesmith::python
