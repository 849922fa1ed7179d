#include "driver/device.h"

#include <array>
#include <bit>

#include <fmt/format.h>
#include <fmt/ranges.h>

namespace tunesmith::cuda {

DeviceDescription describe_device(const Driver& driver, int ordinal) {
  const DriverFunctions& call = driver.functions();
  DriverOrdinal device = 0;
  driver.check(call.device_get(&device, ordinal), fmt::format("cuDeviceGet of {}", ordinal));
  DeviceDescription description;
  std::array<char, 256> name{};
  driver.check(call.device_name(name.data(), int(name.size()) - 1, device), "cuDeviceGetName");
  description.name = name.data();
  const auto get = [&](DeviceAttribute attribute) {
    int value = 0;
    driver.check(call.device_attribute(&value, attribute, device),
                 fmt::format("cuDeviceGetAttribute of {}", int(attribute)));
    return value;
  };
  // Newer drivers do not report clocks.
  const auto get_if = [&](DeviceAttribute attribute) {
    int value = 0;
    return call.device_attribute(&value, attribute, device) == driver_result::kSuccess && value > 0 ? value
                                                                                                    : 0;
  };
  description.major = get(DeviceAttribute::CapabilityMajor);
  description.minor = get(DeviceAttribute::CapabilityMinor);
  description.multiprocessors = unsigned(get(DeviceAttribute::Multiprocessors));
  description.block_shared_bytes = size_t(get(DeviceAttribute::SharedBytesOfBlock));
  description.clock_mhz = unsigned(get_if(DeviceAttribute::ClockKilohertz)) / 1000;
  // Two transfers in a cycle.
  const double kilobits =
      2.0 * get_if(DeviceAttribute::MemoryClockKilohertz) * get_if(DeviceAttribute::MemoryBusBits);
  description.memory_gb_per_second = unsigned(kilobits / 8 * 1e3 / 1e9);
  return description;
}

Device::Device(const Driver& driver, int ordinal) : driver_(driver) {
  const DriverFunctions& call = driver_.functions();
  driver_.check(call.device_get(&ordinal_, ordinal), fmt::format("cuDeviceGet of {}", ordinal));
  driver_.check(call.context_retain(&context_, ordinal_), "cuDevicePrimaryCtxRetain");
  try {
    use();
    driver_.check(call.event_create(&begin_, 0), "cuEventCreate");
    driver_.check(call.event_create(&end_, 0), "cuEventCreate");
  } catch (const DriverError&) {
    if (begin_ != nullptr) call.event_destroy(begin_);
    call.context_release(ordinal_);
    throw;
  }
}

Device::~Device() {
  const DriverFunctions& call = driver_.functions();
  // These fail harmlessly with a lost context.
  call.context_set(context_);
  call.event_destroy(begin_);
  call.event_destroy(end_);
  call.context_release(ordinal_);
}

void Device::use() const { driver_.check(driver_.functions().context_set(context_), "cuCtxSetCurrent"); }

DeviceMemory Device::allocate(size_t bytes) const {
  DriverPointer pointer = 0;
  driver_.check(driver_.functions().allocate(&pointer, bytes), fmt::format("cuMemAlloc of {} bytes", bytes));
  return {*this, pointer};
}

// A context that is lost refuses these, which changes nothing.
void Device::give_back(DriverPointer pointer) const noexcept {
  driver_.functions().context_set(context_);
  driver_.functions().free(pointer);
}

void Device::give_back(DriverModule module) const noexcept {
  driver_.functions().context_set(context_);
  driver_.functions().module_unload(module);
}

void Device::to_device(DriverPointer to, const void* from, size_t bytes) const {
  driver_.check(driver_.functions().copy_to_device(to, from, bytes),
                fmt::format("cuMemcpyHtoD of {} bytes", bytes));
}

void Device::to_host(void* to, DriverPointer from, size_t bytes) const {
  driver_.check(driver_.functions().copy_to_host(to, from, bytes),
                fmt::format("cuMemcpyDtoH of {} bytes", bytes));
}

void Device::on_device(DriverPointer to, DriverPointer from, size_t bytes) const {
  driver_.check(driver_.functions().copy_on_device(to, from, bytes),
                fmt::format("cuMemcpyDtoD of {} bytes", bytes));
}

void Device::fill(DriverPointer to, unsigned char value, size_t bytes) const {
  driver_.check(driver_.functions().fill(to, value, bytes), fmt::format("cuMemsetD8 of {} bytes", bytes));
}

DriverTensorMap Device::map(DriverPointer address, const BoxedTensor& tensor) const {
  // Of cuda.h: UINT16, INTERLEAVE_NONE, SWIZZLE_128B, L2_PROMOTION_L2_128B; what lies outside is zero.
  constexpr int kBits16 = 1, kPlain = 0, kSwizzle128 = 3, kPromotion128 = 2, kZeros = 0;
  std::array<uint64_t, BoxedTensor::kMaxRank> sizes{}, row_bytes{};
  for (size_t d = 0; d < tensor.rank; ++d) {
    sizes[d] = tensor.extents[d];
    if (d > 0) row_bytes[d - 1] = uint64_t{2} * tensor.strides[d];
  }
  BoxedTensor::Sizes steps{};
  steps.fill(1);
  DriverTensorMap map{};
  driver_.check(driver_.functions().encode_tiled(&map, kBits16, tensor.rank, std::bit_cast<void*>(address),
                                                 sizes.data(), row_bytes.data(), tensor.box.data(),
                                                 steps.data(), kPlain, kSwizzle128, kPromotion128, kZeros),
                fmt::format("cuTensorMapEncodeTiled of {} by {}, the innermost first",
                            fmt::join(std::span(tensor.extents).first(tensor.rank), "x"),
                            fmt::join(std::span(tensor.box).first(tensor.rank), "x")));
  return map;
}

DeviceModule Device::load(const std::string& cubin) const {
  DriverModule module = nullptr;
  driver_.check(driver_.functions().module_load(&module, cubin.data(), 0, nullptr, nullptr),
                fmt::format("cuModuleLoadDataEx of {} bytes", cubin.size()));
  return {*this, module};
}

DriverFunction Device::function(const DeviceModule& module, const std::string& name,
                                const Launch& launch) const {
  DriverFunction function = nullptr;
  driver_.check(driver_.functions().module_function(&function, module.get(), name.c_str()),
                fmt::format("cuModuleGetFunction of {}", name));
  if (launch.dynamic_shared_bytes > 0) {
    driver_.check(driver_.functions().function_set(function, FunctionAttribute::DynamicSharedBytes,
                                                   int(launch.dynamic_shared_bytes)),
                  fmt::format("{} bytes of dynamic shared memory for {}", launch.dynamic_shared_bytes, name));
  }
  return function;
}

void Device::launch(DriverFunction function, const Launch& launch, std::span<void*> parameters) const {
  driver_.check(
      driver_.functions().launch(function, launch.grid[0], launch.grid[1], launch.grid[2], launch.block[0],
                                 launch.block[1], launch.block[2], unsigned(launch.dynamic_shared_bytes),
                                 nullptr, parameters.data(), nullptr),
      "cuLaunchKernel");
}

void Device::wait() const { driver_.check(driver_.functions().synchronize(), "cuCtxSynchronize"); }

void Device::begin_time() const {
  driver_.check(driver_.functions().event_record(begin_, nullptr), "cuEventRecord");
}

double Device::end_time() const {
  const DriverFunctions& call = driver_.functions();
  float milliseconds = 0;
  driver_.check(call.event_record(end_, nullptr), "cuEventRecord");
  driver_.check(call.event_synchronize(end_), "cuEventSynchronize");
  driver_.check(call.event_elapsed(&milliseconds, begin_, end_), "cuEventElapsedTime");
  return double(milliseconds) * 1e-3;
}

}  // namespace tunesmith::cuda
