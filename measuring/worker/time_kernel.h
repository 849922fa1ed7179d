// Times a loaded kernel: samples and their number, and many kernels in turn.
#pragma once

#include <functional>
#include <optional>
#include <span>
#include <vector>

#include "tunesmith/runtime/pool.h"
#include "tunesmith/target/target.h"

namespace tunesmith {

/// A kernel with its arguments; owns nothing.
struct KernelCall {
  tunesmith_kernel entry = nullptr;
  std::vector<void*> pointers;
  void* workspace = nullptr;
  tunesmith_runtime_pool* pool = nullptr;
  LoadedKernel* kernel = nullptr;  // asked for its device's time if it has one

  void operator()() const { entry(pointers.data(), workspace, tunesmith_runtime_parallel_for, pool); }
  /// The mean time of so many calls by the device's clock; nothing if this process's clock is used.
  std::optional<double> device_seconds(int calls) const {
    return kernel == nullptr ? std::nullopt : kernel->device_seconds(calls, pointers.data(), workspace);
  }
};

/// Shorter calls are timed in groups: a sample takes at least this many seconds.
inline constexpr double kSampleSeconds = 50e-6;

/// The seconds of one call.
double time_call(const KernelCall& call);

struct SamplingOptions {
  int min_repeats = 3;
  int max_repeats = 10;
  double min_total_seconds = 0.01;  // samples are taken until this total, or max_repeats
  double racing_factor = 1.5;       // a sample this many times the limit is the last
};

/// A kernel with a sample above this multiple of the limit is no
/// contender: it gets at most SamplingOptions::min_repeats samples.
inline constexpr double kContender = 1.1;

/// Samples one kernel after an uncounted call that took `first_seconds`. A short kernel is called
/// before its first sample until caches have settled, and several times per sample. `limit_seconds`:
/// the best so far, 0 if none. `between` is called with the number of samples before each further one.
std::vector<double> sample_kernel(
    const KernelCall& call, const SamplingOptions& options, double limit_seconds, double first_seconds,
    const std::function<void(int)>& between = [](int) {});

/// One of the kernels timed in turn. `warm`: the seconds of its call before the first round.
struct InterleavedKernel {
  KernelCall call;
  double warm = 0.0;
  int samples = 0;                                // so far
  std::optional<double> modelled = std::nullopt;  // used for every sample
};

/// `rounds` samples of each kernel, in turn. A short kernel is called before each of its
/// samples, since kernels that divide their work otherwise leave its data in other cores'
/// caches. A long warm call is the first sample, since warming does not affect it.
std::vector<std::vector<double>> time_rounds(std::span<InterleavedKernel> kernels, int rounds);

}  // namespace tunesmith
