// Launches a kernel once on this machine's GPU.
#pragma once

#include <string>
#include <vector>

#include "argument.h"
#include "machine/launch.h"

namespace tunesmith::cuda {

struct GpuRun {
  std::string device;  // its name
  double seconds = 0;  // of a launch, by the device's clock, after a warming launch
};

/// Compiles `text` for the GPU and launches the kernel; updates
/// `arguments`. Throws EnvironmentError without a driver or NVRTC, and
/// UserError for text that the compiler refuses and for tensor maps.
GpuRun run_on_gpu(const std::string& text, const std::string& file, const std::string& kernel,
                  const Launch& launch, const std::vector<std::string>& options,
                  std::vector<CheckedArgument>& arguments);

}  // namespace tunesmith::cuda
