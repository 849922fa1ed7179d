#include "driver/detected_architecture.h"

#include <charconv>
#include <optional>

#include <fmt/format.h>

#include "support/support_folder.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

/// The parts of a name: "sm_90a" is 9, 0 and true.
struct Capability {
  int major = 0, minor = 0;
  bool own = false;  // with instructions that no other device has
};

Capability capability_of(const std::string& name) {
  Capability capability;
  int number = 0;
  const char* const end = name.data() + name.size();
  const auto [after, error] = std::from_chars(name.data() + std::min<size_t>(3, name.size()), end, number);
  capability.major = number / 10;
  capability.minor = number % 10;
  capability.own = after != end;
  return capability;
}

bool runs(const Capability& code, const DeviceDescription& device) {
  if (code.major != device.major) return false;
  return code.own ? code.minor == device.minor : code.minor <= device.minor;
}

}  // namespace

Architecture architecture_of(const DeviceDescription& device) {
  std::optional<Architecture> best;
  Capability of_best;
  for (const Architecture& architecture : read_architectures(support_folder() / "architectures.yaml")) {
    const Capability capability = capability_of(architecture.name);
    if (!runs(capability, device)) continue;
    if (best && std::pair(capability.minor, capability.own) < std::pair(of_best.minor, of_best.own)) continue;
    best = architecture;
    of_best = capability;
  }
  if (best) return *best;
  throw UserError(fmt::format("no architecture is known whose code {}, of {}.{}, runs", device.name,
                              device.major, device.minor));
}

std::string why_not_run(const Architecture& architecture, const DeviceDescription& device) {
  if (runs(capability_of(architecture.name), device)) return {};
  return fmt::format("{}, of {}.{}, does not run code for {}; arch: {} takes what it runs", device.name,
                     device.major, device.minor, architecture.name, kDetect);
}

void take_speeds(Architecture& architecture, const DeviceDescription& device) {
  if (device.multiprocessors > 0) architecture.multiprocessors = device.multiprocessors;
  if (device.clock_mhz > 0) architecture.clock_mhz = device.clock_mhz;
  if (device.memory_gb_per_second > 0) architecture.memory_gb_per_second = device.memory_gb_per_second;
  if (device.block_shared_bytes > 0)
    architecture.block_shared_bytes = std::min(architecture.block_shared_bytes, device.block_shared_bytes);
}

}  // namespace tunesmith::cuda
