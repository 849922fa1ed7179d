#include <algorithm>

#include <fmt/format.h>

#include "peaks/unit_peak.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

/// How many instances of the intrinsic's block one call computes.
int64_t work_of(const TensorIntrinsicPtr& intrinsic) {
  int64_t work = 1;
  for (const IterVar& iter : intrinsic->block().iters) work *= iter.extent;
  return work;
}

}  // namespace

PeakKernel peak_kernel(const Space& space, const Program& program, int threads) {
  std::vector<TensorIntrinsicPtr> units = space.callable_intrinsics();
  std::erase_if(units, [&](const TensorIntrinsicPtr& unit) { return !is_peak_of(*unit, program); });
  if (units.empty()) {
    Benchmarking* const benchmarking = space.target().benchmarking();
    return benchmarking == nullptr ? PeakKernel{}
                                   : benchmarking->peak_kernel(computed_type(program), threads);
  }
  const auto unit = std::ranges::max_element(units, {}, work_of);
  const UnitPeak peak = unit_peak(*unit, threads);
  auto kernel = space.target().compile(peak.program, "tunesmith_unit_peak");
  if (!kernel)
    throw EnvironmentError(
        fmt::format("the peak of {} cannot be measured: {}", (*unit)->name, kernel.error()));
  return {std::move(*kernel), peak.operations, (*unit)->name};
}

}  // namespace tunesmith
