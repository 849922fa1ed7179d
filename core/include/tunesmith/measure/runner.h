// Running candidates: what is asked of a runner, what it answers. The worker process stands behind
// WorkerRunner; tests put a replaying one in its place.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/measure/failure.h"
#include "tunesmith/measure/timing.h"
#include "tunesmith/plugin/options.h"
#include "tunesmith/target/target.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

struct MeasureOptions {
  int threads = 0;               // of the measured program; 0 = all this process may use
  double time_out_seconds = 10;  // for one candidate, all its runs together; less once a best is known
  int64_t memory_limit_bytes = int64_t{4}
                               << 30;  // of the worker beyond what it has before the first candidate
  int min_repeats = 3;
  int max_repeats = 10;
  double min_total_seconds = 0.01;  // repeats go on until this much has been measured, or max_repeats
  /// A candidate slower than racing_factor * limit_seconds in its first timed run is not run again.
  double racing_factor = 1.5;
  uint64_t data_seed = 1;
  /// Accepted error of an element, in units of u * sqrt(K) * (sum of |terms|): see docs/measuring.md.
  double tolerance = 8.0;
  /// Set by a signal handler: the candidate under way and those after it end at once, with the cause
  /// worker_lost.
  const std::atomic<bool>* stop = nullptr;
};

struct MeasureRequest {
  const CompiledKernel* kernel = nullptr;
  /// Best median so far in seconds, 0 when there is none: for racing.
  double limit_seconds = 0.0;
};

struct MeasureResult {
  std::optional<Timing> timing;
  double verified_error = 0.0;  // largest error over its tolerance; at most 1 when timing is present
  std::optional<CandidateFailure> failure;
};

/// Belongs to one task. Called by one thread at a time.
class Runner {
 public:
  virtual ~Runner();
  /// One answer for each request, in order. Never throws for a candidate's fault; EnvironmentError when no
  /// worker can be started.
  virtual std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) = 0;
  /// Times the kernels interleaved, `rounds` times each, for a final ranking. samples[i] are those of
  /// kernels[i]; empty where one failed.
  virtual std::vector<std::vector<double>> interleave(std::span<const CompiledKernel* const> kernels,
                                                      int rounds) = 0;
};

/// How the worker makes the target that loads the kernels: the same plugin with the same options.
struct WorkerTarget {
  std::string id;
  std::vector<RawOption> options;
  std::vector<std::string> plugin_paths;
  std::string lock_file = {};  ///< as PluginSearch::lock_file; "": nothing is locked
};

/// Runs candidates in a separate process, with limits on memory and time, restarted when it dies. Every
/// candidate is verified against the reference before it is timed: outputs pre-filled with NaN, buffers
/// between guard pages. `target` compiles the reference: the unscheduled program in f64.
std::unique_ptr<Runner> make_worker_runner(const Workload& workload, Target& target,
                                           const WorkerTarget& worker_target, const MeasureOptions& options);

}  // namespace tunesmith
