// How a loaded kernel is timed: what a sample is, how many there are, and many kernels in turn.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tunesmith/runtime/pool.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// A kernel with what it is called with; owns nothing.
struct KernelCall {
  tunesmith_kernel entry = nullptr;
  std::vector<void*> pointers;
  void* workspace = nullptr;
  tunesmith_runtime_pool* pool = nullptr;
  LoadedKernel* kernel = nullptr;  // asked for its device's time, where it is given

  void operator()() const { entry(pointers.data(), workspace, tunesmith_runtime_parallel_for, pool); }
  /// Of a call by the device's clock, the mean of so many; nothing where this process' clock tells.
  std::optional<double> device_seconds(int calls) const {
    return kernel == nullptr ? std::nullopt : kernel->device_seconds(calls, pointers.data(), workspace);
  }
};

/// Shorter calls are timed several at once: a sample takes at least so many seconds.
inline constexpr double kSampleSeconds = 50e-6;

/// Seconds of one call.
double time_call(const KernelCall& call);

struct SamplingOptions {
  int min_repeats = 3;
  int max_repeats = 10;
  double min_total_seconds = 0.01;  // samples are taken until they add up to this, or max_repeats
  double racing_factor = 1.5;       // a sample this many times the limit is the last
};

/// Not among the best, though its time is of interest: a sample above this many times the limit is one of no
/// more than SamplingOptions::min_repeats.
inline constexpr double kContender = 1.1;

/// Samples of one kernel, after a call that is not one and took `first_seconds`. A short kernel is called
/// several times for a sample. `limit_seconds`: the best so far, 0 when there is none. `between` is called
/// with the number of samples taken, before each further one.
std::vector<double> sample_kernel(
    const KernelCall& call, const SamplingOptions& options, double limit_seconds, double first_seconds,
    const std::function<void(int)>& between = [](int) {});

/// One of the kernels timed in turn. `warm`: the seconds of its call before the first round.
struct InterleavedKernel {
  KernelCall call;
  double warm = 0.0;
  int samples = 0;                                // taken so far
  std::optional<double> modelled = std::nullopt;  // seconds that stand for every sample
};

/// `rounds` samples of each kernel, in turn. A short kernel is called before each of its samples: kernels
/// that divide their work otherwise leave its data in the caches of other cores. Where the warm call was
/// long, it is the first sample: warming changes nothing for what runs that long.
std::vector<std::vector<double>> time_rounds(std::span<InterleavedKernel> kernels, int rounds);

}  // namespace tunesmith
