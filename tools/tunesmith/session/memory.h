// Checks before a run whether there is enough memory to measure a workload.
#pragma once

#include <optional>
#include <string>

#include <tunesmith/workload/workload.h>

namespace tunesmith::cli {

/// The peak memory in bytes for measuring, in the worker and here: arguments for two data
/// sets and for timing, with the reference and its error bounds in double precision.
double measuring_bytes(const Workload& workload);
/// The bytes that this process may still use, by the machine or its control group.
double available_bytes();

/// A description of the required and available memory if it is not enough.
std::optional<std::string> memory_lacking(const Workload& workload, double available);

/// Throws UserError if measuring needs more memory
/// than available; with `allowed` it only prints that.
void require_memory(const Workload& workload, bool allowed);

}  // namespace tunesmith::cli
