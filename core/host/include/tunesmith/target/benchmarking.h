// A target's facet: measures the speed of the machine.
#pragma once

#include <string>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/target/compiled_kernel.h"

#pragma GCC visibility push(default)
namespace tunesmith {

class Target;

/// A kernel of independent multiply-adds, as fast as the machine can execute them.
struct PeakKernel {
  CompiledKernel kernel;    // takes no buffers
  double operations = 0.0;  // arithmetic operations of one call, on all threads together
  /// The tensor intrinsic that it calls; empty for the processor's own instructions.
  std::string unit = {};  // NOLINT(readability-redundant-member-init): may be left out
};

/// Owned by its target (Target::benchmarking()). Called by one thread at a time.
class Benchmarking {
 public:
  virtual ~Benchmarking();

  /// About half a millisecond of multiply-adds of `type` on `threads` cores. Timed
  /// in turn with a program, it gives the current peak, also on a shared machine.
  virtual PeakKernel peak_kernel(DType type, int threads) = 0;
  /// Measures the bytes per second, read plus written, of copying a buffer much larger
  /// than the caches on `threads` cores. Throws EnvironmentError if that is impossible.
  virtual double measure_copy_bandwidth(int threads) = 0;
};

/// Throws EnvironmentError if `target` has no such facet.
Benchmarking& benchmarking_of(Target& target);

}  // namespace tunesmith
#pragma GCC visibility pop
