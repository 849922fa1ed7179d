#include "driver/driver.h"

#include <algorithm>
#include <array>
#include <cstdlib>

#include <dlfcn.h>
#include <fmt/format.h>

namespace tunesmith::cuda {
namespace {

using namespace driver_result;

/// All errors after which a context is unusable, by NVIDIA's
/// documentation: those of kernels, from 700 on, and those of memory.
constexpr std::array<DriverResult, 14> kLosing = {kEccUncorrectable,
                                                  220,  // of NVLink
                                                  kContained,
                                                  kIllegalAddress,
                                                  kLaunchTimeout,
                                                  kContextIsDestroyed,
                                                  kAssert,
                                                  kHardwareStackError,
                                                  715,  // an illegal instruction
                                                  kMisalignedAddress,
                                                  kInvalidAddressSpace,
                                                  718 /* of the program counter */,
                                                  kLaunchFailed,
                                                  kUnknown};

using GetProcAddress = DriverResult (*)(const char* name, void** function, int version, uint64_t flags,
                                        int* status);

template <class Function>
bool get(GetProcAddress get_address, const char* name, Function** function) {
  void* address = nullptr;
  int status = 0;
  if (get_address(name, &address, kDriverInterface, 0, &status) != kSuccess || address == nullptr)
    return false;
  *function = reinterpret_cast<Function*>(address);
  return true;
}

/// The first name of a function that the driver lacks, or null.
const char* fill_table(GetProcAddress address, DriverFunctions& to) {
#define TUNESMITH_GET(name, field) \
  if (!get(address, name, &to.field)) return name
  TUNESMITH_GET("cuInit", init);
  TUNESMITH_GET("cuDriverGetVersion", driver_version);
  TUNESMITH_GET("cuDeviceGetCount", device_count);
  TUNESMITH_GET("cuDeviceGet", device_get);
  TUNESMITH_GET("cuDeviceGetName", device_name);
  TUNESMITH_GET("cuDeviceGetAttribute", device_attribute);
  TUNESMITH_GET("cuDevicePrimaryCtxRetain", context_retain);
  TUNESMITH_GET("cuDevicePrimaryCtxRelease", context_release);
  TUNESMITH_GET("cuCtxSetCurrent", context_set);
  TUNESMITH_GET("cuCtxSynchronize", synchronize);
  TUNESMITH_GET("cuModuleLoadDataEx", module_load);
  TUNESMITH_GET("cuModuleUnload", module_unload);
  TUNESMITH_GET("cuModuleGetFunction", module_function);
  TUNESMITH_GET("cuFuncSetAttribute", function_set);
  TUNESMITH_GET("cuFuncGetAttribute", function_get);
  TUNESMITH_GET("cuMemAlloc", allocate);
  TUNESMITH_GET("cuMemFree", free);
  TUNESMITH_GET("cuMemcpyHtoD", copy_to_device);
  TUNESMITH_GET("cuMemcpyDtoH", copy_to_host);
  TUNESMITH_GET("cuMemcpyDtoD", copy_on_device);
  TUNESMITH_GET("cuMemsetD8", fill);
  TUNESMITH_GET("cuLaunchKernel", launch);
  TUNESMITH_GET("cuTensorMapEncodeTiled", encode_tiled);
  TUNESMITH_GET("cuEventCreate", event_create);
  TUNESMITH_GET("cuEventRecord", event_record);
  TUNESMITH_GET("cuEventSynchronize", event_synchronize);
  TUNESMITH_GET("cuEventElapsedTime", event_elapsed);
  TUNESMITH_GET("cuEventDestroy", event_destroy);
  TUNESMITH_GET("cuGetErrorName", error_name);
#undef TUNESMITH_GET
  return nullptr;
}

struct Found {
  std::unique_ptr<Driver> driver;
  std::string why_absent;
};

const Found& found() {
  // Never unloaded: the driver has threads of its own.
  static const Found* const once = [] {
    const char* chosen = std::getenv("TUNESMITH_CUDA_DRIVER");
    auto* result = new Found;
    result->driver =
        Driver::load(chosen != nullptr && *chosen != '\0' ? chosen : "libcuda.so.1", &result->why_absent);
    return result;
  }();
  return *once;
}

}  // namespace

bool DriverError::lost() const { return std::ranges::find(kLosing, result_) != kLosing.end(); }

const Driver* Driver::find() { return found().driver.get(); }

std::string Driver::why_absent() { return found().why_absent; }

std::unique_ptr<Driver> Driver::load(const std::string& name, std::string* why_not) {
  void* const library = dlopen(name.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    *why_not = fmt::format("no driver of a GPU: {}", dlerror());
    return nullptr;
  }
  // The toolkit's stub library returns this for every call, including the first.
  if (const auto init = reinterpret_cast<DriverResult (*)(unsigned)>(dlsym(library, "cuInit"));
      init != nullptr && init(0) == kStubLibrary) {
    *why_not = fmt::format("{} is the toolkit's stub and no driver of a GPU", name);
    return nullptr;
  }
  const auto address = reinterpret_cast<GetProcAddress>(dlsym(library, "cuGetProcAddress_v2"));
  if (address == nullptr) {
    *why_not = fmt::format("{} has no cuGetProcAddress_v2: a driver of CUDA 12 or later is needed", name);
    return nullptr;
  }
  DriverFunctions functions;
  if (const char* lacking = fill_table(address, functions)) {
    *why_not = fmt::format("{} has no {}", name, lacking);
    return nullptr;
  }
  return of(functions, why_not);
}

std::unique_ptr<Driver> Driver::of(const DriverFunctions& functions, std::string* why_not) {
  std::unique_ptr<Driver> driver(new Driver);
  driver->functions_ = functions;
  int devices = 0;
  DriverResult result = functions.init(0);
  if (result == kSuccess) result = functions.device_count(&devices);
  if (result == kStubLibrary) {
    *why_not = "the driver is the toolkit's stub";
  } else if (result == kNoDevice || (result == kSuccess && devices == 0)) {
    *why_not = "the driver knows no GPU";
  } else if (result != kSuccess) {
    *why_not = fmt::format("the driver does not start: {}", driver->error_name(result));
  } else {
    return driver;
  }
  return nullptr;
}

std::string Driver::error_name(DriverResult result) const {
  const char* name = nullptr;
  if (functions_.error_name(result, &name) == kSuccess && name != nullptr) return name;
  return fmt::format("error {}", result);
}

void Driver::check(DriverResult result, const std::string& what) const {
  if (result != kSuccess) throw DriverError(fmt::format("{}: {}", what, error_name(result)), result);
}

}  // namespace tunesmith::cuda
