// The runner that measures candidates in a worker process.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/target/target.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// How the worker creates the target that loads the kernels: the same plugin with the same options.
struct WorkerTarget {
  std::string id;
  std::vector<RawOption> options;
  std::vector<std::string> plugin_paths;
  std::string lock_file = {};  ///< PluginSearch::lock_file; "": none
};

/// Runs candidates in a separate process with limits on memory and time, restarted when it
/// dies. Every candidate is verified on two data sets before it is timed (docs/measuring.md).
/// `target` compiles the reference: the unscheduled program in f64. Runner's functions throw
/// UserError if no data can distinguish wrong results of the workload from rounding.
std::unique_ptr<Runner> make_worker_runner(const Workload& workload, Target& target,
                                           const WorkerTarget& worker_target, const MeasureOptions& options);

}  // namespace tunesmith
#pragma GCC visibility pop
