// Programs for ranges of extents: verified and timed at several values of their parameters.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "tunesmith/measure/runner.h"
#include "tunesmith/verification/verified_values.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {

/// Makes the runner for the workload with these values.
using MakeRunner =
    std::function<std::unique_ptr<Runner>(const ParameterValues& values, const MeasureOptions& options)>;

/// A time is the geometric mean of the times at typical_values(), so that long and short ones have the same
/// weight.
std::unique_ptr<Runner> make_varying_runner(const Workload& workload, const MeasureOptions& options,
                                            const MakeRunner& make);

}  // namespace tunesmith
