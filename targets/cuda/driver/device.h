// A GPU: memory, kernels, launches, and their times.
#pragma once

#include <optional>
#include <span>
#include <string>
#include <utility>

#include "driver/driver.h"
#include "machine/boxed_tensor.h"
#include "machine/launch.h"

namespace tunesmith::cuda {

/// A GPU's description, available without a context.
struct DeviceDescription {
  std::string name;  // "NVIDIA A100-SXM4-80GB"
  int major = 0, minor = 0;
  unsigned multiprocessors = 0;
  unsigned clock_mhz = 0;             // 0 if the driver does not report it
  unsigned memory_gb_per_second = 0;  // from its clock and bus; 0 if unknown
  size_t block_shared_bytes = 0;
};

/// Throws DriverError.
DeviceDescription describe_device(const Driver& driver, int ordinal = 0);

class Device;

/// Memory or code on a device, released by the destructor; thread-safe.
template <class Handle>
class DeviceOwned {
 public:
  DeviceOwned() = default;
  DeviceOwned(const Device& device, Handle handle) : device_(&device), handle_(handle) {}
  DeviceOwned(DeviceOwned&& other) noexcept
      : device_(std::exchange(other.device_, nullptr)), handle_(std::exchange(other.handle_, Handle{})) {}
  DeviceOwned& operator=(DeviceOwned other) noexcept {
    std::swap(device_, other.device_);
    std::swap(handle_, other.handle_);
    return *this;
  }
  ~DeviceOwned();

  Handle get() const { return handle_; }

 private:
  const Device* device_ = nullptr;
  Handle handle_{};
};

using DeviceMemory = DeviceOwned<DriverPointer>;
using DeviceModule = DeviceOwned<DriverModule>;

/// A GPU in this process, with its primary context. Callable from any thread, one call
/// at a time; destroy its allocations and modules first. All calls throw DriverError.
class Device {
 public:
  /// Makes the context, which reserves address space. `driver` must outlive this.
  explicit Device(const Driver& driver, int ordinal = 0);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  const Driver& driver() const { return driver_; }

  /// Makes its context current in the calling thread. Call first.
  void use() const;

  DeviceMemory allocate(size_t bytes) const;
  void to_device(DriverPointer to, const void* from, size_t bytes) const;
  void to_host(void* to, DriverPointer from, size_t bytes) const;
  void on_device(DriverPointer to, DriverPointer from, size_t bytes) const;
  void fill(DriverPointer to, unsigned char value, size_t bytes) const;

  /// A map of the tensor that begins at `address`, for boxes with the 128-byte swizzle.
  DriverTensorMap map(DriverPointer address, const BoxedTensor& tensor) const;

  /// From a cubin, which is code for this device and is not compiled again.
  DeviceModule load(const std::string& cubin) const;
  /// Lets it have as much dynamic shared memory as `launch` has.
  DriverFunction function(const DeviceModule& module, const std::string& name, const Launch& launch) const;
  /// `parameters` point to the arguments. Returns before
  /// the kernel has run: a later call reports its faults.
  void launch(DriverFunction function, const Launch& launch, std::span<void*> parameters) const;
  /// Waits for all launches.
  void wait() const;

  /// Times the launches between both calls by the device's clock; end_time() waits for them.
  void begin_time() const;
  double end_time() const;  // seconds

 private:
  template <class Handle>
  friend class DeviceOwned;
  void give_back(DriverPointer pointer) const noexcept;
  void give_back(DriverModule module) const noexcept;

  const Driver& driver_;
  DriverOrdinal ordinal_ = 0;
  DriverContext context_ = nullptr;
  DriverEvent begin_ = nullptr, end_ = nullptr;
};

template <class Handle>
DeviceOwned<Handle>::~DeviceOwned() {
  if (device_ != nullptr) device_->give_back(handle_);
}

}  // namespace tunesmith::cuda
