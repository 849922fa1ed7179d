#include "candidates/device_candidate.h"

#include <algorithm>
#include <cmath>
#include <new>

#include <fmt/format.h>

namespace tunesmith::cuda {
namespace {

/// On each side of an argument; keeps the alignment that the driver gives.
constexpr int64_t kZone = 512;
/// NaN in each floating-point type.
constexpr unsigned char kPoison = 0xff;
/// The minimum duration of a sample: the clock ticks twice per microsecond.
constexpr double kSampleSeconds = 500e-6;
/// Calls at least this long need no warming calls.
constexpr double kWarmSeconds = 10e-3;
constexpr double kMinSeconds = 1e-9;

KernelFault fault_of(const DriverError& error) {
  using namespace driver_result;
  KernelFault fault{KernelFault::Kind::Crash, error.what(), error.lost()};
  const DriverResult result = error.result();
  if (result == kIllegalAddress || result == kMisalignedAddress || result == kInvalidAddressSpace ||
      result == kHardwareStackError)
    fault.kind = KernelFault::Kind::OutOfBounds;
  if (result == kLaunchTimeout) fault.kind = KernelFault::Kind::TimeOut;
  return fault;
}

}  // namespace

DeviceCandidate::DeviceCandidate(const Device& device, CandidateObject object, int64_t workspace_bytes)
    : device_(device), object_(std::move(object)) {
  device_.use();
  workspace_.bytes = workspace_bytes;
  workspace_.name = "the workspace";
  for (ObjectLaunch& launch : object_.launches) {
    modules_.push_back(device_.load(launch.program));
    launch.program.clear();
    functions_.push_back(device_.function(modules_.back(), launch.kernel, launch.launch));
    for (const ObjectArgument& argument : launch.arguments) {
      if (!argument.in_workspace) buffers_[argument.position] = {{}, argument.bytes, argument.name};
    }
  }
  for (auto& [position, region] : buffers_) allocate(region);
  if (workspace_bytes > 0) allocate(workspace_);
  for (const ObjectLaunch& launch : object_.launches) {
    Parameters& parameters = parameters_.emplace_back();
    for (const ObjectArgument& argument : launch.arguments) {
      const DriverPointer address = argument.in_workspace
                                        ? data(workspace_) + static_cast<DriverPointer>(argument.position)
                                        : data(buffers_.at(argument.position));
      if (argument.is_map()) {
        parameters.maps.push_back(device_.map(address, argument.tensor));
      } else {
        parameters.pointers.push_back(address);
      }
    }
  }
}

void DeviceCandidate::allocate(Region& region) {
  region.memory = device_.allocate(static_cast<size_t>(region.bytes + 2 * kZone));
  device_.fill(region.memory.get(), kPoison, static_cast<size_t>(region.bytes + 2 * kZone));
}

std::optional<KernelFault> DeviceCandidate::take_fault() {
  const std::lock_guard lock(mutex_);
  return std::exchange(fault_, std::nullopt);
}

DriverPointer DeviceCandidate::data(const Region& region) const {
  return region.memory.get() + static_cast<DriverPointer>(kZone);
}

void DeviceCandidate::copy_in(void* const* buffers) const {
  for (const auto& [position, region] : buffers_)
    device_.to_device(data(region), buffers[position], static_cast<size_t>(region.bytes));
}

void DeviceCandidate::run() const {
  for (size_t i = 0; i < object_.launches.size(); ++i) {
    Parameters own = parameters_[i];
    std::vector<void*> parameters;
    for (DriverPointer& pointer : own.pointers) parameters.push_back(&pointer);
    for (DriverTensorMap& map : own.maps) parameters.push_back(&map);
    device_.launch(functions_[i], object_.launches[i].launch, parameters);
  }
}

void DeviceCandidate::copy_out(void* const* buffers) const {
  for (const int64_t output : object_.outputs) {
    const auto region = buffers_.find(output);
    if (region == buffers_.end()) continue;
    device_.to_host(buffers[output], data(region->second), static_cast<size_t>(region->second.bytes));
  }
}

const DeviceCandidate::Region* DeviceCandidate::touched_around() const {
  const auto touched = [&](const Region& region) {
    std::vector<unsigned char> zones(2 * kZone);
    device_.to_host(zones.data(), region.memory.get(), kZone);
    device_.to_host(zones.data() + kZone, data(region) + static_cast<DriverPointer>(region.bytes), kZone);
    return std::ranges::any_of(zones, [](unsigned char byte) { return byte != kPoison; });
  };
  for (const auto& [position, region] : buffers_)
    if (touched(region)) return &region;
  return workspace_.bytes > 0 && touched(workspace_) ? &workspace_ : nullptr;
}

/// No exception may leave a kernel's entry, and after a mistake nothing more is run.
template <class Work>
void DeviceCandidate::guarded(Work work) {
  const std::lock_guard lock(mutex_);
  if (fault_) return;
  try {
    device_.use();
    work();
  } catch (const DriverError& error) {
    fault_ = fault_of(error);
  } catch (const std::bad_alloc&) {
    fault_ = {KernelFault::Kind::Crash, "out of memory"};  // so short a text asks for none
  } catch (const std::exception& error) {
    fault_ = {KernelFault::Kind::Crash, error.what()};
  }
}

void DeviceCandidate::call(void* const* buffers, void* /*workspace*/) {
  guarded([&] {
    copy_in(buffers);
    if (workspace_.bytes > 0) device_.fill(data(workspace_), kPoison, static_cast<size_t>(workspace_.bytes));
    run();
    device_.wait();
    if (const Region* region = touched_around()) {
      fault_ = KernelFault{KernelFault::Kind::OutOfBounds, fmt::format("wrote outside of {}", region->name)};
      return;
    }
    copy_out(buffers);
  });
}

std::optional<double> DeviceCandidate::device_seconds(int calls, void* const* buffers, void* /*workspace*/) {
  double seconds = kMinSeconds;
  guarded([&] {
    copy_in(buffers);
    if (last_seconds_ < kWarmSeconds) run();
    const int most = last_seconds_ > 0 ? int(std::min(1000.0, std::ceil(kSampleSeconds / last_seconds_))) : 1;
    const int count = std::max(calls, most);
    device_.wait();
    device_.begin_time();
    for (int i = 0; i < count; ++i) run();
    seconds = std::max(device_.end_time() / count, kMinSeconds);
    last_seconds_ = seconds;
    copy_out(buffers);
  });
  return seconds;
}

}  // namespace tunesmith::cuda
