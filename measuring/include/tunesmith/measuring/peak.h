// How fast the machine is: what times of programs are compared with.
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

/// What times of `program` are compared with in this space: of the instructions that extensions say are the
/// peak of their unit and whose operands have the types of the program's, the one that does most in a call,
/// else the target's multiply-adds of computed_type(); no operations where the target measures no peaks.
/// Throws EnvironmentError where it cannot be compiled.
PeakKernel peak_kernel(const Space& space, const Program& program, int threads);

/// Arithmetic operations a second of `target`'s peak kernel: the best within a fraction of a second. Throws
/// EnvironmentError when the threads cannot be started.
double measure_peak(Target& target, DType type, int threads);
/// The same of a peak kernel for `threads` threads that the target has compiled. One that calls a unit of an
/// extension runs in a process of its own: EnvironmentError, which names the unit, where that one ends or
/// hangs.
double measure_peak(Target& target, const PeakKernel& peak, int threads);

/// What was measured, and whether a thread of this process waited for a processor for more than a tenth of
/// the time meanwhile: nothing where the system does not tell.
struct WatchedRate {
  double per_second = 0.0;
  std::optional<bool> disturbed;
};
WatchedRate watched(const std::function<double()>& measure);

}  // namespace tunesmith
#pragma GCC visibility pop
