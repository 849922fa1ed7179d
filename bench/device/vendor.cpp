#include "vendor.h"

#include <algorithm>
#include <cmath>
#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

#include "device/float16.h"
#include "tunesmith/support/error.h"

namespace tunesmith::cuda {
namespace {

constexpr int kSamples = 10;
constexpr double kSampleSeconds = 2e-3;

}  // namespace

void* load_vendor_library(const char* variable, std::vector<std::string> names) {
  const char* const chosen = std::getenv(variable);
  if (chosen != nullptr && *chosen != '\0') names = {chosen};
  for (const std::string& name : names) {
    if (void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL)) return library;
  }
  throw EnvironmentError(fmt::format("there is no {}: set {} to its path", names.front(), variable));
}

void* vendor_symbol(void* library, const char* name) { return dlsym(library, name); }

std::vector<float> exact_numbers(size_t count, RandomStream& random) {
  std::vector<float> values(count);
  for (float& value : values) value = float(std::floor(random.uniform() * 17) - 8) / 8;
  return values;
}

DeviceMemory on_device(const Device& device, const std::vector<float>& values, bool half) {
  const size_t bytes = values.size() * (half ? 2 : 4);
  DeviceMemory memory = device.allocate(bytes);
  if (!half) {
    device.to_device(memory.get(), values.data(), bytes);
    return memory;
  }
  std::vector<uint16_t> halves;
  for (const float value : values) halves.push_back(tunesmith_emulation::f32_to_f16(value));
  device.to_device(memory.get(), halves.data(), bytes);
  return memory;
}

void* pointer(const DeviceMemory& memory) {
  return reinterpret_cast<void*>(memory.get());  // NOLINT(performance-no-int-to-ptr): the driver has numbers
}

double shortest_seconds(const Device& device, const std::function<void()>& call) {
  const auto time = [&](int count) {
    device.begin_time();
    for (int i = 0; i < count; ++i) call();
    return device.end_time() / count;
  };
  call();
  device.wait();
  const int count = int(std::clamp(std::ceil(kSampleSeconds / std::max(time(1), 1e-7)), 1.0, 1000.0));
  double seconds = time(count);
  for (int i = 1; i < kSamples; ++i) seconds = std::min(seconds, time(count));
  return seconds;
}

}  // namespace tunesmith::cuda
