// A model of how long a program takes on a device: arithmetic against what the multiprocessors can do,
// traffic against the memories, in each launch. Good for telling much from little, no measurement.
#pragma once

#include "architecture.h"
#include "tunesmith/lower/lower.h"

namespace tunesmith::cuda {

/// Seconds of one call. Never 0.
double modelled_seconds(const LoweredProgram& lowered, const Architecture& architecture);

/// Multiply-adds of f32 a second.
double peak_fma_per_second(const Architecture& architecture);

}  // namespace tunesmith::cuda
