// Runners: the interface of plugins that say where candidates are measured: on this machine, or on others.
//
// Such a plugin makes a Runner (<tunesmith/measure/runner.h>) for each task. A runner is asked for candidates
// by the round: it answers each request once, in the order of the requests, whatever order they were done in
// and whoever did them. A search proposes next what it learned from these answers alone, so equal answers
// give equal searches.
//
// A candidate's failure is an answer: it is never thrown, never left out, and never a time. What ends a run
// is thrown: EnvironmentError where nothing can be measured any more, UserError where nobody can measure
// this workload.
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
  Environment environment;  // of records: times of one environment are compared
  int threads = 0;          // of the measured programs; above 0
  /// The machine, where its target is not the space's: the space is composed again from what it says of
  /// itself (space_for), and asked for once more.
  std::optional<WorkerDescription> machine = std::nullopt;
};

/// What a runner is made for. What is given by reference outlives the runner.
struct RunnerTask {
  const Workload& workload;
  const Space& space;
  const WorkerTarget& worker_target;  // for who starts a worker process here
  const MeasureOptions& options;      // `threads` as measured_on() has answered, or 0
  /// The run's name: a run that restarts under this name gets the answers that were under way when it was
  /// killed. "": the run does not restart.
  std::string owner;
  /// Receives one line for the user, such as that the runner has to wait. May be null.
  std::function<void(const std::string&)> say;
};

/// One object for a whole run; called by one thread at a time. The time limit on a plugin's calls does not
/// apply: measuring takes as long as it takes, and MeasureOptions::stop ends it.
class MeasuringPlace {
 public:
  virtual ~MeasuringPlace();
  /// Do programs run on this machine? Then its lock and its peaks count, and the target must be here.
  virtual bool here() const = 0;
  /// `threads`: those asked for; 0: what is usual there. Answers the same as long as nothing is changed
  /// there. Throws EnvironmentError where nobody measures for the space's target, naming who is there.
  virtual MeasuredOn measured_on(const Space& space, int threads) = 0;
  virtual std::unique_ptr<Runner> make_runner(const RunnerTask& task) = 0;
  /// Rounds of how many tasks are best under way at once. Above 1, run() and interleave() of several of its
  /// runners are called at once, each by one thread, and so are `say` and `stop`. A constant: which
  /// candidates a run proposes depends on it, and must not depend on who is there. 1 by default.
  virtual size_t rounds_at_once() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
