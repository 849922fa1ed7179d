// Runners verify and time candidates: their interface, requests and results. The kernel contains no runner:
// plugins of the kind runner create them (<tunesmith/measuring/measuring_place.h>), and the caller of tune()
// passes one.
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
  double time_out_seconds = 10;  // for all runs of one candidate; less once a best time is known
  int64_t memory_limit_bytes = int64_t{4} << 30;  // growth of the worker since before the first candidate
  int min_repeats = 3;
  int max_repeats = 10;
  double min_total_seconds = 0.01;  // repeats end at this total of the samples, or at max_repeats
  /// A candidate gets no further sample if its fastest one exceeds racing_factor * limit_seconds. Where a
  /// call takes less than a millisecond, two samples that agree must say so.
  double racing_factor = 1.5;
  uint64_t data_seed = 1;
  /// For a program with parameters: additional values of the parameters for which candidates are verified.
  std::vector<std::vector<int64_t>> also_verified_at;
  /// Excludes other processes on this machine while measuring; null: no exclusion. Not shared with other
  /// threads.
  std::shared_ptr<MachineLock> machine;
  /// A signal handler may set it: the current candidate and all later ones then fail at once with
  /// worker_lost.
  const std::atomic<bool>* stop = nullptr;
};

struct MeasureRequest {
  const CompiledKernel* kernel = nullptr;
  /// The smallest sample of the best program so far, in seconds; 0 if there is none. A slower candidate gets
  /// fewer samples, one slower by racing_factor no more than it takes to tell, and one slower by orders of
  /// magnitude times out. Faster candidates of earlier requests in the same run() lower the limit.
  double limit_seconds = 0.0;
  /// False if the program has no parallel loop: then two threads may verify it on both data sets
  /// concurrently.
  bool parallel = true;
  /// The smaller instance of the workload that the kernel computes, if
  /// TwinVerification::compile_reduced_instance() made it: the candidate is verified on this instance's data.
  /// Null: the runner's workload.
  const Workload* instance = nullptr;
};

struct MeasureResult {
  std::optional<Timing> timing;
  /// True if other work used the machine during every measurement, so that the program may be faster; nothing
  /// if unknown.
  std::optional<bool> disturbed;
  double verified_error = 0.0;  // the maximum of error / tolerance; at most 1 if timing is present
  std::optional<CandidateFailure> failure;
  /// From a runner that takes candidates (Runner::as_candidate): the smaller workload on which it verified
  /// the program; "": its own workload.
  std::string verified_on = {};  // NOLINT(readability-redundant-member-init): may be left out
};

struct InterleaveOptions {
  int rounds = 1;
  /// After min_rounds, no round begins that would exceed this total, in seconds: slow kernels get few samples
  /// of one call each.
  double budget_seconds = 10.0;
  int min_rounds = 3;
  /// The kernel without outputs (PeakKernel), whose results are not compared. Null: no such kernel.
  const CompiledKernel* yardstick = nullptr;
};

/// The samples of a program with parameters for these values of the parameters.
struct SamplesAt {
  std::vector<int64_t> values;
  std::vector<double> samples;
};

/// The times of one kernel.
struct InterleavedTimes {
  /// In seconds, one for each completed round, in order.
  std::vector<double> samples;
  /// The number of samples taken while other work disturbed the machine.
  size_t disturbed = 0;
  /// Why there are no samples; nothing if there are some.
  std::optional<CandidateFailure> failure;
  /// For a program with parameters: the samples at each tuple of values; those above are geometric means over
  /// the typical tuples. Else empty.
  std::vector<SamplesAt> at = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// One object per task. Called by one thread at a time.
class Runner {
 public:
  virtual ~Runner();
  /// Verifies and times the candidates. Returns one result per request, in order. Returns a candidate's
  /// failure in its result; throws EnvironmentError if no worker can be started.
  virtual std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) = 0;
  /// Times verified kernels alternately, one sample of each per round, and compares their results again
  /// before and after the rounds. Returns one entry per kernel, in order. A kernel that fails before the
  /// rounds is excluded from them; one whose results are wrong afterwards loses its samples. If a round fails
  /// or MeasureOptions::stop is set, the samples of earlier rounds are kept. Throws EnvironmentError as run()
  /// does.
  virtual std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                                   const InterleaveOptions& options) = 0;
  /// The classes of values that verification of the task's workload does not cover, each with the reason
  /// ("denormals: .."); known after the first run().
  virtual std::vector<std::string> not_exercised() const { return {}; }
  /// For a runner that compiles candidates where it measures them: the candidate in the form that it takes
  /// instead of compiled code. Nothing, as by default: it takes compiled code.
  virtual std::optional<CompiledKernel> as_candidate(const Trace& trace, uint64_t lowered_hash) const;
  /// The preferred number of requests per call of run(). Small, as by default, if they are measured one after
  /// another: then a stop takes effect soon, and records are written early.
  virtual size_t at_once() const;
};

}  // namespace tunesmith
#pragma GCC visibility pop
