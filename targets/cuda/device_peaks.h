// What a GPU does at most, measured on it.
#pragma once

#include "driver/device.h"
#include "machine/architecture.h"
#include "tunesmith/target/benchmarking.h"

namespace tunesmith::cuda {

/// Multiply-adds of f32 on all multiprocessors, of no type but that: those of matrices have units of their
/// own. Throws EnvironmentError without NVRTC.
PeakKernel device_peak_kernel(const Architecture& architecture);

/// Bytes a second, read plus written, of a copy from the device's memory to its memory.
double device_copy_bandwidth(const Device& device);

}  // namespace tunesmith::cuda
