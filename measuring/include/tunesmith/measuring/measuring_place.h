// Measuring places: the interface of runner plugins, which measure candidates on this machine or on others.
//
// A plugin creates a Runner (<tunesmith/measure/runner.h>) for each task. A runner gets a round of requests
// and returns one result per request, in their order, regardless of where and in which order they were
// measured. A search depends only on these results, so equal results give equal searches.
//
// A candidate's failure is a result: it is not thrown or omitted, and has no time. Exceptions end the run:
// EnvironmentError if nothing can be measured any more, UserError if no machine can measure this workload.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "tunesmith/measure/runner.h"
#include "tunesmith/measuring/turns.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/records/environment.h"
#include "tunesmith/space/space.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// Where a runner's times are measured.
struct MeasuredOn {
  Environment environment;  // for records: only times of one environment are compared
  int threads = 0;          // of the measured programs; above 0
  /// The machine, if its target differs from the space's: the space is then composed again for it
  /// (space_for), and measured_on() is called once more.
  std::optional<WorkerDescription> machine = std::nullopt;
};

/// The arguments for creating a runner. Referenced objects outlive the runner.
struct RunnerTask {
  const Workload& workload;
  const Space& space;
  const WorkerTarget& worker_target;  // for starting a worker process on this machine
  const MeasureOptions& options;      // with `threads` from measured_on(), or 0
  /// The run's name: a run that is killed and restarted under this name gets the results that were then in
  /// flight. "": the run does not restart.
  std::string owner;
  /// Receives one line for the user, such as that the runner has to wait. May be null.
  std::function<void(const std::string&)> say;
};

/// One object for a whole run; called by one thread at a time. The time limit of plugin calls does not apply;
/// MeasureOptions::stop ends a measurement.
class MeasuringPlace {
 public:
  virtual ~MeasuringPlace();
  /// Do programs run on this machine? Then its lock and peaks apply, and its hardware must have the target.
  virtual bool here() const = 0;
  /// `threads`: the requested number; 0: the machine's default. Returns the same until the machines change.
  /// Throws EnvironmentError, naming the available machines, if none measures for the space's target.
  virtual MeasuredOn measured_on(const Space& space, int threads) = 0;
  virtual std::unique_ptr<Runner> make_runner(const RunnerTask& task) = 0;
  /// The preferred number of tasks with concurrent rounds. Above 1, run() and interleave() of several runners
  /// are called concurrently, each by one thread, and `say` and `stop` are used concurrently. A constant,
  /// because the proposed candidates depend on it and must not depend on the available machines. 1 by
  /// default.
  virtual size_t rounds_at_once() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
