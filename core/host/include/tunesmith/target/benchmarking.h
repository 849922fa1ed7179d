// A target's facet: how fast the machine is, without any program of a user.
#pragma once

#include <string>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/target/compiled_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Target;

/// A kernel that does nothing but independent multiply-adds, as fast as the machine can.
struct PeakKernel {
  CompiledKernel kernel;    // takes no buffers
  double operations = 0.0;  // arithmetic operations of one call, on all threads together
  /// The tensor intrinsic that makes them; empty where they are the processor's own.
  std::string unit = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// Owned by its target (Target::benchmarking()). Called by one thread at a time.
class Benchmarking {
 public:
  virtual ~Benchmarking();

  /// Multiply-adds of `type` on `threads` cores, about half a millisecond of them. Timed in turn with a
  /// program it gives the peak at that moment, on a machine shared with others, too.
  virtual PeakKernel peak_kernel(DType type, int threads) = 0;
  /// Bytes a second read plus written when copying a buffer far larger than the caches on `threads` cores,
  /// measured now. Throws EnvironmentError where that is impossible.
  virtual double measure_copy_bandwidth(int threads) = 0;
};

/// Throws EnvironmentError where `target` has no such facet.
Benchmarking& benchmarking_of(Target& target);

}  // namespace tunesmith
#pragma GCC visibility pop
