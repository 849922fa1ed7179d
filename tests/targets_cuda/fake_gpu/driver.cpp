// A library with the driver's functions that runs launches of the fake NVRTC's kernels through the emulation.
// As on a GPU, errors come late and stay, and every thread needs the context. The environment variable
// TUNESMITH_FAKE_GPU has options, separated by commas:
//   absent, stub      cuInit returns this error
//   fail:TEXT=719     launches of kernels whose names contain TEXT end with this error
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <map>
#include <memory>
#include <mutex>
#include <sstream>
#include <utility>

#include "cubin.h"
#include "driver/driver_functions.h"
#include "emulation/emulated_kernel.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::cuda;
using namespace tunesmith::cuda::driver_result;

constexpr size_t kAlign = 256;
constexpr int kMaxDynamicBytes = 166912;
constexpr DriverResult kInvalidContext = 201;
constexpr DriverResult kInvalidImage = 200;
// So slow that nobody repeats a launch to time it.
constexpr double kLaunchSeconds = 1e-3, kAccessSeconds = 1e-8;
constexpr double kRunSeconds = 200;

struct Function {
  fake_gpu::Kernel kernel;
  std::unique_ptr<EmulatedKernel> emulated;
  int dynamic_bytes = 48 << 10;
  bool ran = false;
};
/// The content of the fake's maps.
struct Map {
  DriverPointer address = 0;
  BoxedTensor tensor;
};
struct Module {
  std::map<std::string, Function> functions;
};
struct Event {
  double time = 0;
};

std::mutex mutex;
std::map<DriverPointer, size_t> allocations;
double clock_seconds = 0;
DriverResult sticky = kSuccess;
int contexts = 0;
thread_local bool current = false;

std::string option(const std::string& name) {
  const char* const text = std::getenv("TUNESMITH_FAKE_GPU");
  std::istringstream stream(text == nullptr ? "" : text);
  for (std::string word; std::getline(stream, word, ',');)
    if (word.starts_with(name)) return word;
  return "";
}

/// Checks what a call that uses the context needs.
DriverResult usable() {
  if (!current || contexts == 0) return kInvalidContext;
  return sticky;
}

/// The rest of the allocation that `pointer` points into; 0 when there is none.
size_t bytes_from(DriverPointer pointer) {
  auto after = allocations.upper_bound(pointer);
  if (after == allocations.begin()) return 0;
  --after;
  const DriverPointer end = after->first + after->second;
  return pointer < end ? end - pointer : 0;
}

void run(Function& function, const Launch& launch, void** parameters) {
  if (const std::string fail = option("fail:"); !fail.empty()) {
    const size_t sign = fail.find('=');
    if (function.kernel.name.find(fail.substr(5, sign - 5)) != std::string::npos) {
      sticky = std::atoi(fail.c_str() + sign + 1);
      return;
    }
  }
  std::vector<EmulatedArgument> arguments;
  std::vector<DriverPointer> pointers;
  for (size_t i = 0; i < function.kernel.parameters.size(); ++i) {
    if (function.kernel.parameters[i] == 'm') {
      const Map& map = *static_cast<Map*>(parameters[i]);
      const auto* from = reinterpret_cast<unsigned char*>(map.address);
      const std::string name = "map" + std::to_string(i);
      const unsigned outermost = map.tensor.rank - 1;
      const size_t bytes = size_t{2} * map.tensor.extents[outermost] * map.tensor.strides[outermost];
      arguments.push_back({name, EmulatedArgument::Kind::Hidden, {from, from + bytes}, {}});
      arguments.push_back({name, EmulatedArgument::Kind::Map, {}, map.tensor});
      pointers.insert(pointers.end(), {map.address, 0});
      continue;
    }
    const bool value = function.kernel.parameters[i] == 'v';
    pointers.push_back(value ? 0 : *static_cast<DriverPointer*>(parameters[i]));
    const auto* from = value ? static_cast<unsigned char*>(parameters[i])
                             : reinterpret_cast<unsigned char*>(pointers.back());
    arguments.push_back({"argument" + std::to_string(i),
                         value ? EmulatedArgument::Kind::Value : EmulatedArgument::Kind::Buffer,
                         {from, from + (value ? 4 : bytes_from(pointers.back()))},
                         {}});
  }
  const std::vector<EmulatedArgument> before = arguments;
  clock_seconds += kLaunchSeconds;
  // A launch without arguments has no effect, so repetitions can be skipped.
  if (arguments.empty() && std::exchange(function.ran, true)) return;
  const EmulationReport report =
      function.emulated->run(launch, arguments, {.time_limit_seconds = kRunSeconds});
  // Two arguments may be parts of one allocation, so copy only changed bytes.
  for (size_t i = 0; i < arguments.size(); ++i) {
    if (arguments[i].kind == EmulatedArgument::Kind::Value ||
        arguments[i].kind == EmulatedArgument::Kind::Map)
      continue;
    auto* to = reinterpret_cast<unsigned char*>(pointers[i]);
    for (size_t at = 0; at < arguments[i].bytes.size(); ++at)
      if (arguments[i].bytes[at] != before[i].bytes[at]) to[at] = arguments[i].bytes[at];
  }
  if (report.found("out_of_bounds") || report.found("fault")) {
    sticky = kIllegalAddress;
  } else if (report.found("misaligned")) {
    sticky = kMisalignedAddress;
  } else if (!report.clean()) {
    sticky = kLaunchFailed;
  }
  for (const auto& [name, count] : report.counters)
    if (name.ends_with("_accesses")) clock_seconds += double(count) * kAccessSeconds;
}

/// Like the emulation's maps: rows of 16-bit elements, boxes of 128 bytes with their swizzle.
DriverResult encode_tiled(DriverTensorMap* map, int type, uint32_t rank, void* address,
                          const uint64_t* extents, const uint64_t* strides, const uint32_t* box,
                          const uint32_t* steps, int interleave, int swizzle, int, int fill) {
  if (type != 1 || rank < 2 || rank > BoxedTensor::kMaxRank || box[0] != 64 || interleave != 0 ||
      swizzle != 3 || fill != 0 || reinterpret_cast<uintptr_t>(address) % 16 != 0)
    return kInvalidValue;
  Map made{reinterpret_cast<DriverPointer>(address), {rank, {}, {1}, {}}};
  for (size_t d = 0; d < rank; ++d) {
    if (extents[d] == 0 || box[d] == 0 || box[d] > 256 || steps[d] != 1 ||
        (d > 0 && strides[d - 1] % 16 != 0))
      return kInvalidValue;
    made.tensor.extents[d] = unsigned(extents[d]);
    made.tensor.box[d] = box[d];
    if (d > 0) made.tensor.strides[d] = unsigned(strides[d - 1] / 2);
  }
  static_assert(sizeof made <= sizeof *map);
  std::memcpy(map, &made, sizeof made);
  return kSuccess;
}

DriverResult init(unsigned) {
  if (!option("absent").empty()) return kNoDevice;
  return option("stub").empty() ? kSuccess : kStubLibrary;
}
DriverResult driver_version(int* version) { return *version = 13000, kSuccess; }
DriverResult device_count(int* count) { return *count = 1, kSuccess; }
DriverResult device_get(DriverOrdinal* device, int ordinal) { return *device = ordinal, kSuccess; }
DriverResult device_name(char* name, int size, DriverOrdinal) {
  std::strncpy(name, "Fake GPU", size_t(size));
  return kSuccess;
}
DriverResult device_attribute(int* value, DeviceAttribute attribute, DriverOrdinal) {
  static const std::map<DeviceAttribute, int> values{{DeviceAttribute::CapabilityMajor, 8},
                                                     {DeviceAttribute::CapabilityMinor, 0},
                                                     {DeviceAttribute::Multiprocessors, 2},
                                                     {DeviceAttribute::SharedBytesOfBlock, kMaxDynamicBytes},
                                                     {DeviceAttribute::ClockKilohertz, 1000000}};
  const auto found = values.find(attribute);
  if (found == values.end()) return kInvalidValue;
  return *value = found->second, kSuccess;
}
DriverResult context_retain(DriverContext* context, DriverOrdinal) {
  const std::lock_guard lock(mutex);
  ++contexts;
  *context = reinterpret_cast<DriverContext>(&contexts);
  return kSuccess;
}
DriverResult context_release(DriverOrdinal) {
  const std::lock_guard lock(mutex);
  --contexts;
  return kSuccess;
}
DriverResult context_set(DriverContext context) {
  current = context != nullptr;
  return sticky;
}
DriverResult synchronize() { return usable(); }
DriverResult module_load(DriverModule* module, const void* image, unsigned, int*, void**) {
  const std::lock_guard lock(mutex);
  if (const DriverResult result = usable(); result != kSuccess) return result;
  std::vector<fake_gpu::Kernel> kernels;
  if (!fake_gpu::read_cubin(static_cast<const char*>(image), kernels)) return kInvalidImage;
  auto* made = new Module;
  for (fake_gpu::Kernel& kernel : kernels) {
    EmulationOptions options;
    options.dynamic_shared_bytes = size_t{256} << 10;
    Function& function = made->functions[kernel.name];
    function.emulated = std::make_unique<EmulatedKernel>(kernel.program, options);
    function.kernel = std::move(kernel);
  }
  *module = reinterpret_cast<DriverModule>(made);
  return kSuccess;
}
DriverResult module_unload(DriverModule module) {
  delete reinterpret_cast<Module*>(module);
  return kSuccess;
}
DriverResult module_function(DriverFunction* function, DriverModule module, const char* name) {
  auto& functions = reinterpret_cast<Module*>(module)->functions;
  const auto found = functions.find(name);
  if (found == functions.end()) return kNotFound;
  *function = reinterpret_cast<DriverFunction>(&found->second);
  return kSuccess;
}
DriverResult function_set(DriverFunction function, FunctionAttribute attribute, int value) {
  if (attribute != FunctionAttribute::DynamicSharedBytes || value > kMaxDynamicBytes) return kInvalidValue;
  reinterpret_cast<Function*>(function)->dynamic_bytes = value;
  return kSuccess;
}
DriverResult function_get(int* value, FunctionAttribute, DriverFunction) { return *value = 0, kSuccess; }
DriverResult allocate(DriverPointer* pointer, size_t bytes) {
  const std::lock_guard lock(mutex);
  if (const DriverResult result = usable(); result != kSuccess) return result;
  void* const memory = std::aligned_alloc(kAlign, (bytes + kAlign - 1) / kAlign * kAlign);
  if (memory == nullptr) return kOutOfMemory;
  *pointer = reinterpret_cast<DriverPointer>(memory);
  allocations[*pointer] = bytes;
  return kSuccess;
}
DriverResult free_memory(DriverPointer pointer) {
  const std::lock_guard lock(mutex);
  if (allocations.erase(pointer) == 0) return kInvalidValue;
  std::free(reinterpret_cast<void*>(pointer));
  return kSuccess;
}
/// Wraps work on memory of the device.
template <class Work>
DriverResult on_memory(DriverPointer pointer, size_t bytes, Work work) {
  const std::lock_guard lock(mutex);
  if (const DriverResult result = usable(); result != kSuccess) return result;
  if (bytes_from(pointer) < bytes) return kInvalidValue;
  work(reinterpret_cast<void*>(pointer));
  return kSuccess;
}
DriverResult copy_to_device(DriverPointer to, const void* from, size_t bytes) {
  return on_memory(to, bytes, [&](void* memory) { std::memcpy(memory, from, bytes); });
}
DriverResult copy_to_host(void* to, DriverPointer from, size_t bytes) {
  return on_memory(from, bytes, [&](const void* memory) { std::memcpy(to, memory, bytes); });
}
DriverResult copy_on_device(DriverPointer to, DriverPointer from, size_t bytes) {
  return on_memory(to, bytes, [&](void* memory) {
    std::memcpy(memory, reinterpret_cast<const void*>(from), bytes);
    clock_seconds += double(bytes) * 2e-12;
  });
}
DriverResult fill(DriverPointer to, unsigned char value, size_t bytes) {
  return on_memory(to, bytes, [&](void* memory) { std::memset(memory, value, bytes); });
}
DriverResult launch(DriverFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                    unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes, DriverStream,
                    void** parameters, void**) {
  const std::lock_guard lock(mutex);
  if (const DriverResult result = usable(); result != kSuccess) return result;
  auto& of = *reinterpret_cast<Function*>(function);
  if (int(shared_bytes) > of.dynamic_bytes) return kInvalidValue;
  run(of, {{grid_x, grid_y, grid_z}, {block_x, block_y, block_z}, shared_bytes}, parameters);
  return kSuccess;  // errors are reported later
}
DriverResult event_create(DriverEvent* event, unsigned) {
  *event = reinterpret_cast<DriverEvent>(new Event);
  return usable();
}
DriverResult event_record(DriverEvent event, DriverStream) {
  reinterpret_cast<Event*>(event)->time = clock_seconds;
  return usable();
}
DriverResult event_synchronize(DriverEvent) { return usable(); }
DriverResult event_elapsed(float* milliseconds, DriverEvent from, DriverEvent to) {
  *milliseconds = float(1e3 * (reinterpret_cast<Event*>(to)->time - reinterpret_cast<Event*>(from)->time));
  return usable();
}
DriverResult event_destroy(DriverEvent event) {
  delete reinterpret_cast<Event*>(event);
  return kSuccess;
}
DriverResult error_name(DriverResult error, const char** name) {
  static const std::map<DriverResult, const char*> names{
      {kIllegalAddress, "CUDA_ERROR_ILLEGAL_ADDRESS"},
      {kLaunchFailed, "CUDA_ERROR_LAUNCH_FAILED"},
      {kMisalignedAddress, "CUDA_ERROR_MISALIGNED_ADDRESS"},
      {kOutOfMemory, "CUDA_ERROR_OUT_OF_MEMORY"}};
  const auto found = names.find(error);
  if (found == names.end()) return kInvalidValue;
  return *name = found->second, kSuccess;
}

template <class Function>
void* address(Function* function) {
  return reinterpret_cast<void*>(function);
}

}  // namespace

#define EXPORTED extern "C" __attribute__((visibility("default")))

EXPORTED DriverResult cuInit(unsigned flags) { return init(flags); }

EXPORTED DriverResult cuGetProcAddress_v2(const char* name, void** function, int version, uint64_t, int*) {
  static const std::map<std::string, void*> functions{{"cuInit", address(init)},
                                                      {"cuDriverGetVersion", address(driver_version)},
                                                      {"cuDeviceGetCount", address(device_count)},
                                                      {"cuDeviceGet", address(device_get)},
                                                      {"cuDeviceGetName", address(device_name)},
                                                      {"cuDeviceGetAttribute", address(device_attribute)},
                                                      {"cuDevicePrimaryCtxRetain", address(context_retain)},
                                                      {"cuDevicePrimaryCtxRelease", address(context_release)},
                                                      {"cuCtxSetCurrent", address(context_set)},
                                                      {"cuCtxSynchronize", address(synchronize)},
                                                      {"cuModuleLoadDataEx", address(module_load)},
                                                      {"cuModuleUnload", address(module_unload)},
                                                      {"cuModuleGetFunction", address(module_function)},
                                                      {"cuFuncSetAttribute", address(function_set)},
                                                      {"cuFuncGetAttribute", address(function_get)},
                                                      {"cuMemAlloc", address(allocate)},
                                                      {"cuMemFree", address(free_memory)},
                                                      {"cuMemcpyHtoD", address(copy_to_device)},
                                                      {"cuMemcpyDtoH", address(copy_to_host)},
                                                      {"cuMemcpyDtoD", address(copy_on_device)},
                                                      {"cuMemsetD8", address(fill)},
                                                      {"cuLaunchKernel", address(launch)},
                                                      {"cuTensorMapEncodeTiled", address(encode_tiled)},
                                                      {"cuEventCreate", address(event_create)},
                                                      {"cuEventRecord", address(event_record)},
                                                      {"cuEventSynchronize", address(event_synchronize)},
                                                      {"cuEventElapsedTime", address(event_elapsed)},
                                                      {"cuEventDestroy", address(event_destroy)},
                                                      {"cuGetErrorName", address(error_name)}};
  const auto found = functions.find(name);
  // Signatures are those of one version.
  if (version != kDriverInterface || found == functions.end()) return kNotFound;
  *function = found->second;
  return kSuccess;
}
