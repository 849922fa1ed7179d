// The architecture of a GPU that is here.
#pragma once

#include "driver/device.h"
#include "machine/architecture.h"

namespace tunesmith::cuda {

/// The value of the option `arch` that asks for it.
inline constexpr const char* kDetect = "detect";

/// The newest of the file whose code the device runs; with all instructions of its own (sm_90a) where there
/// are such. Throws UserError when there is none.
Architecture architecture_of(const DeviceDescription& device);

/// Why the device does not run code for this architecture, or "". A cubin runs on devices of the same major
/// number and no smaller minor one, one for instructions of its own on that device alone.
std::string why_not_run(const Architecture& architecture, const DeviceDescription& device);

/// The model of times gets the device's multiprocessors, clock and memory, so far as it says them.
void take_speeds(Architecture& architecture, const DeviceDescription& device);

}  // namespace tunesmith::cuda
