// The speed of the machine, with which times of programs are compared.
#pragma once

#include <functional>
#include <optional>

#include "tunesmith/ir/dtype.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/performance/computed_type.h"
#include "tunesmith/space/space.h"
#include "tunesmith/target/benchmarking.h"
#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith {

/// The peak for `program` in this space: of the instructions that extensions declare as
/// the peak of their unit and whose operand types match, the one with most operations
/// per call; else the target's multiply-adds of computed_type(); no operations if the
/// target measures no peaks. Throws EnvironmentError if it cannot be compiled.
PeakKernel peak_kernel(const Space& space, const Program& program, int threads);

/// The operations per second of `target`'s peak kernel: the best within a fraction
/// of a second. Throws EnvironmentError if the threads cannot be started.
double measure_peak(Target& target, DType type, int threads);
/// The same for a compiled peak kernel for `threads` threads. A kernel
/// that uses a unit of an extension runs in a child process:
/// EnvironmentError with the unit's name if that process dies or hangs.
double measure_peak(Target& target, const PeakKernel& peak, int threads);

/// A measured rate, and whether a thread of this process waited for a processor
/// for more than a tenth of the time; nothing if the system does not tell.
struct WatchedRate {
  double per_second = 0.0;
  std::optional<bool> disturbed;
};
WatchedRate watched(const std::function<double()>& measure);

}  // namespace tunesmith
#pragma GCC visibility pop
