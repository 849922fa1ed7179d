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

/// Makes the runner for the workload at these values alone.
using MakeRunner =
    std::function<std::unique_ptr<Runner>(const ParameterValues& values, const MeasureOptions& options)>;

/// A time is the geometric mean of those at typical_values(): each counts as much, whether it is long or
/// short.
std::unique_ptr<Runner> make_varying_runner(const Workload& workload, const MeasureOptions& options,
                                            const MakeRunner& make);

}  // namespace tunesmith
