#include <algorithm>

#include <fmt/format.h>

#include "space/composition.h"
#include "target/unit_peak.h"
#include "tunesmith/space/space.h"

namespace tunesmith {

PeakKernel Space::peak_kernel(const Program& program, int threads) const {
  const std::vector<TensorIntrinsicPtr>& intrinsics = state_->lower_options.intrinsics;
  const auto unit = std::ranges::find_if(
      intrinsics, [&](const TensorIntrinsicPtr& intrinsic) { return is_peak_of(*intrinsic, program); });
  if (unit == intrinsics.end()) return state_->target->peak_kernel(program.outputs.front()->dtype, threads);
  const UnitPeak peak = unit_peak(*unit, threads);
  auto kernel = state_->target->compile(peak.program, "tunesmith_unit_peak");
  if (!kernel)
    throw EnvironmentError(
        fmt::format("the peak of {} cannot be measured: {}", (*unit)->name, kernel.error()));
  return {std::move(*kernel), peak.operations, (*unit)->name};
}

}  // namespace tunesmith
