// Measures the peaks of a GPU.
#pragma once

#include "driver/device.h"
#include "machine/architecture.h"
#include "tunesmith/target/benchmarking.h"

namespace tunesmith::cuda {

/// Multiply-adds of f32 on all multiprocessors; matrix instructions have separate units. Throws
/// EnvironmentError without NVRTC.
PeakKernel device_peak_kernel(const Architecture& architecture);

/// Bytes per second, read plus written, of a copy within the device's memory.
double device_copy_bandwidth(const Device& device);

}  // namespace tunesmith::cuda
