// How a loaded kernel is timed: what a sample is, how many there are, and many kernels in turn.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/target/runtime.h"

namespace tunesmith {

/// A kernel with what it is called with; owns nothing.
struct KernelCall {
  tunesmith_kernel entry = nullptr;
  std::vector<void*> pointers;
  void* workspace = nullptr;
  tunesmith_runtime_pool* pool = nullptr;

  void operator()() const { entry(pointers.data(), workspace, tunesmith_runtime_parallel_for, pool); }
};

/// Seconds of one call.
double time_call(const KernelCall& call);

struct SamplingOptions {
  int min_repeats = 3;
  int max_repeats = 10;
  double min_total_seconds = 0.01;  // samples are taken until they add up to this, or max_repeats
  double racing_factor = 1.5;       // a sample this many times the limit is the last
};

/// Samples of one kernel, after a call that is not one. A short kernel is called several times for a sample.
/// `limit_seconds`: the best so far, 0 when there is none.
std::vector<double> sample_kernel(const KernelCall& call, const SamplingOptions& options,
                                  double limit_seconds);

/// `rounds` samples of each kernel, in turn, after a call of each that is not one.
std::vector<std::vector<double>> interleave_kernels(std::span<const KernelCall> calls, int rounds);

}  // namespace tunesmith
