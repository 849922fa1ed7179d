// Running candidates: what is asked of a runner, and what it answers. The kernel knows no runner: who calls
// tune() brings one, which a plugin of the kind runner has made (<tunesmith/measuring/measuring_place.h>).
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

#pragma GCC visibility push(default)
namespace tunesmith {

class MachineLock;  // <tunesmith/measuring/machine_lock.h>
class Trace;        // <tunesmith/trace/trace.h>

struct MeasureOptions {
  int threads = 0;               // of the measured program; 0 = all this process may use
  double time_out_seconds = 10;  // for one candidate, all its runs together; less once a best is known
  int64_t memory_limit_bytes = int64_t{4}
                               << 30;  // of the worker beyond what it has before the first candidate
  int min_repeats = 3;
  int max_repeats = 10;
  double min_total_seconds = 0.01;  // repeats continue until this much has been measured, or max_repeats
  /// A candidate is not run again after a sample slower than racing_factor * limit_seconds.
  double racing_factor = 1.5;
  uint64_t data_seed = 1;
  /// Of a program with parameters: further values of theirs with which candidates are verified.
  std::vector<std::vector<int64_t>> also_verified_at;
  /// Who takes turns at measuring with others on this machine; none: nobody. Shared with no other thread.
  std::shared_ptr<MachineLock> machine;
  /// Set by a signal handler: the candidate under way and those after it end at once, with the cause
  /// worker_lost.
  const std::atomic<bool>* stop = nullptr;
};

struct MeasureRequest {
  const CompiledKernel* kernel = nullptr;
  /// The smallest sample of the best so far, in seconds; 0 when there is none. What is slower is sampled less
  /// often, what is slower by far once (racing_factor), and by very far it is not waited for. Requests before
  /// this one that turn out faster take its place.
  double limit_seconds = 0.0;
  /// False: the program has no parallel loop, and while it is verified on one data set, another thread may
  /// verify it on the other.
  bool parallel = true;
  /// What the kernel computes where that is not the runner's own workload but a smaller instance of it (the
  /// kernel is of TwinVerification::compile_reduced_instance()): the candidate is verified on that one's
  /// data. Null: the runner's.
  const Workload* instance = nullptr;
};

struct MeasureResult {
  std::optional<Timing> timing;
  /// Something else used the machine meanwhile, also when it was measured again: the program may be faster.
  /// Nothing: not known.
  std::optional<bool> disturbed;
  double verified_error = 0.0;  // largest error over its tolerance; at most 1 when timing is present
  std::optional<CandidateFailure> failure;
  /// Of a runner that takes candidates (Runner::as_candidate): the smaller workload that it verified the
  /// program on; "": its own.
  std::string verified_on = {};  // NOLINT(readability-redundant-member-init): may be left out
};

struct InterleaveOptions {
  int rounds = 1;
  /// No further round begins that would take the rounds beyond this, in seconds, once there are min_rounds:
  /// slow kernels have few samples, and each is a call.
  double budget_seconds = 10.0;
  int min_rounds = 3;
  /// The one among the kernels that computes nothing (PeakKernel), so that there is nothing to compare. Null:
  /// none of them.
  const CompiledKernel* yardstick = nullptr;
};

/// Of a program with parameters, with these values of theirs.
struct SamplesAt {
  std::vector<int64_t> values;
  std::vector<double> samples;
};

/// Of one of the kernels timed in turn.
struct InterleavedTimes {
  /// Seconds, one for each round that was done, in their order.
  std::vector<double> samples;
  /// How many of them were taken in disturbed moments.
  size_t disturbed = 0;
  /// Why there is no sample; nothing when there is one.
  std::optional<CandidateFailure> failure;
  /// Of a program with parameters: what `samples` are means of, and samples with other values; else empty.
  std::vector<SamplesAt> at = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// Belongs to one task. Called by one thread at a time.
class Runner {
 public:
  virtual ~Runner();
  /// One answer for each request, in order. Never throws for a candidate's fault; EnvironmentError when no
  /// worker can be started.
  virtual std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) = 0;
  /// Times the kernels in turn, a call of each a round. They must have been verified; before and after the
  /// rounds the results of each are compared once more. One answer for each kernel, in order. A kernel that
  /// fails before the rounds is left out of them, one that is wrong after them has no samples; what ends the
  /// rounds (a failure in one, MeasureOptions::stop) leaves the samples of those before it.
  /// Throws EnvironmentError as run() does.
  virtual std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                                   const InterleaveOptions& options) = 0;
  /// What values of its types the own workload's candidates are not verified on, each with the reason
  /// ("denormals: .."); known after the first run().
  virtual std::vector<std::string> not_exercised() const { return {}; }
  /// Of a runner that measures elsewhere: a candidate as what it takes instead of the target's code, since it
  /// is compiled where it is measured. Nothing, the default: it takes code.
  virtual std::optional<CompiledKernel> as_candidate(const Trace& trace, uint64_t lowered_hash) const;
  /// With how many requests run() is best called. Few where they are measured one after the other: a stop is
  /// heeded soon, and records are written as they come.
  virtual size_t at_once() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
