// Helpers of the programs that time a vendor's library.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include "driver/device.h"
#include "tunesmith/support/random.h"

namespace tunesmith::cuda {

/// The library of the environment variable, or else the first of `names` that the system's loader finds.
/// Throws EnvironmentError.
void* load_vendor_library(const char* variable, std::vector<std::string> names);

/// Null if the library has no such symbol.
void* vendor_symbol(void* library, const char* name);

/// Looks up a function of the library; false if there is none.
template <class Function>
bool find_function(void* library, const char* name, Function*& function) {
  function = reinterpret_cast<Function*>(vendor_symbol(library, name));
  return function != nullptr;
}

/// Numbers that f32 and f16 represent exactly, as well as their products and short sums.
std::vector<float> exact_numbers(size_t count, RandomStream& random);

/// Copies values to the device, as f16 if `half`, else as f32.
DeviceMemory on_device(const Device& device, const std::vector<float>& values, bool half);

/// The address as the vendors' functions expect it.
void* pointer(const DeviceMemory& memory);

/// Seconds of one call by the device's clock, with warm caches: the best of ten samples of two milliseconds.
double shortest_seconds(const Device& device, const std::function<void()>& call);

}  // namespace tunesmith::cuda
