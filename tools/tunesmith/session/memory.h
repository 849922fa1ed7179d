// Is there memory for measuring a workload? Asked before anything is started.
#pragma once

#include <optional>
#include <string>

#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// Bytes that measuring takes at its peak, in the worker and here: arguments for two data sets and for
/// timing, with the reference and its error bounds in double precision.
double measuring_bytes(const Workload& workload);
/// Bytes that this process may still take: of the machine, or of the control group it runs in.
double available_bytes();

/// What measuring takes beside what `available` bytes are, where that is too much.
std::optional<std::string> memory_lacking(const Workload& workload, double available);

/// Throws UserError when measuring takes more than there is; with `allowed` it only says so on standard
/// error.
void require_memory(const Workload& workload, bool allowed);

}  // namespace tunesmith::cli
