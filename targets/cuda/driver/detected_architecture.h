// Detects the architecture of this machine's GPU.
#pragma once

#include "driver/device.h"
#include "machine/architecture.h"

namespace tunesmith::cuda {

/// The value of the option `arch` that requests detection.
inline constexpr const char* kDetect = "detect";

/// The newest architecture in the file whose code the device runs, with its
/// special instructions (sm_90a) if it has any. Throws UserError if there is none.
Architecture architecture_of(const DeviceDescription& device);

/// "", or why the device does not run code for this architecture. A cubin runs on devices with the
/// same major and at least the same minor number; one with special instructions only on that device.
std::string why_not_run(const Architecture& architecture, const DeviceDescription& device);

/// Sets the multiprocessors, clock and memory of the timing model to the device's, as far as known.
void take_speeds(Architecture& architecture, const DeviceDescription& device);

}  // namespace tunesmith::cuda
