// Compares our table of the driver's functions with NVIDIA's header, if it is installed: without a GPU,
// nothing else detects a wrong parameter.
#ifdef TUNESMITH_HAVE_CUDA_H
#include <tuple>
#include <type_traits>

#include <cuda.h>
#include <cudaTypedefs.h>
#include <gtest/gtest.h>

#include "driver/driver_functions.h"

namespace tunesmith::cuda {
namespace {

template <class Ours, class Theirs>
constexpr bool same_kind() {
  return sizeof(Ours) == sizeof(Theirs) && std::is_pointer_v<Ours> == std::is_pointer_v<Theirs>;
}

template <class Ours, class Theirs>
struct Fits : std::false_type {};
template <class... Ours, class... Theirs>
struct Fits<DriverResult (*)(Ours...), CUresult (*)(Theirs...)> {
  static constexpr bool value() {
    if constexpr (sizeof...(Ours) == sizeof...(Theirs)) return (same_kind<Ours, Theirs>() && ...);
    return false;
  }
};

#define EXPECT_FITS(field, theirs) \
  EXPECT_TRUE((Fits<decltype(DriverFunctions::field), theirs>::value())) << #field

TEST(DriverFunctions, AreThoseOfTheHeader) {
  EXPECT_FITS(init, PFN_cuInit_v2000);
  EXPECT_FITS(driver_version, PFN_cuDriverGetVersion_v2020);
  EXPECT_FITS(device_count, PFN_cuDeviceGetCount_v2000);
  EXPECT_FITS(device_get, PFN_cuDeviceGet_v2000);
  EXPECT_FITS(device_name, PFN_cuDeviceGetName_v2000);
  EXPECT_FITS(device_attribute, PFN_cuDeviceGetAttribute_v2000);
  EXPECT_FITS(context_retain, PFN_cuDevicePrimaryCtxRetain_v7000);
  EXPECT_FITS(context_release, PFN_cuDevicePrimaryCtxRelease_v11000);
  EXPECT_FITS(context_set, PFN_cuCtxSetCurrent_v4000);
  EXPECT_FITS(synchronize, PFN_cuCtxSynchronize_v2000);
  EXPECT_FITS(module_load, PFN_cuModuleLoadDataEx_v2010);
  EXPECT_FITS(module_unload, PFN_cuModuleUnload_v2000);
  EXPECT_FITS(module_function, PFN_cuModuleGetFunction_v2000);
  EXPECT_FITS(function_set, PFN_cuFuncSetAttribute_v9000);
  EXPECT_FITS(function_get, PFN_cuFuncGetAttribute_v2020);
  EXPECT_FITS(allocate, PFN_cuMemAlloc_v3020);
  EXPECT_FITS(free, PFN_cuMemFree_v3020);
  EXPECT_FITS(copy_to_device, PFN_cuMemcpyHtoD_v3020);
  EXPECT_FITS(copy_to_host, PFN_cuMemcpyDtoH_v3020);
  EXPECT_FITS(copy_on_device, PFN_cuMemcpyDtoD_v3020);
  EXPECT_FITS(fill, PFN_cuMemsetD8_v3020);
  EXPECT_FITS(launch, PFN_cuLaunchKernel_v4000);
  EXPECT_FITS(encode_tiled, PFN_cuTensorMapEncodeTiled_v12000);
  EXPECT_FITS(event_create, PFN_cuEventCreate_v2000);
  EXPECT_FITS(event_record, PFN_cuEventRecord_v2000);
  EXPECT_FITS(event_synchronize, PFN_cuEventSynchronize_v2000);
  EXPECT_FITS(event_elapsed, PFN_cuEventElapsedTime_v2000);
  EXPECT_FITS(event_destroy, PFN_cuEventDestroy_v4000);
  EXPECT_FITS(error_name, PFN_cuGetErrorName_v6000);
}

TEST(DriverFunctions, NumbersAreThoseOfTheHeader) {
  using namespace driver_result;
  EXPECT_EQ(kStubLibrary, int(CUDA_ERROR_STUB_LIBRARY));
  EXPECT_EQ(kNoDevice, int(CUDA_ERROR_NO_DEVICE));
  EXPECT_EQ(kOutOfMemory, int(CUDA_ERROR_OUT_OF_MEMORY));
  EXPECT_EQ(kEccUncorrectable, int(CUDA_ERROR_ECC_UNCORRECTABLE));
  EXPECT_EQ(kContained, int(CUDA_ERROR_CONTAINED));
  EXPECT_EQ(kNotFound, int(CUDA_ERROR_NOT_FOUND));
  EXPECT_EQ(kIllegalAddress, int(CUDA_ERROR_ILLEGAL_ADDRESS));
  EXPECT_EQ(kLaunchTimeout, int(CUDA_ERROR_LAUNCH_TIMEOUT));
  EXPECT_EQ(kContextIsDestroyed, int(CUDA_ERROR_CONTEXT_IS_DESTROYED));
  EXPECT_EQ(kAssert, int(CUDA_ERROR_ASSERT));
  EXPECT_EQ(kHardwareStackError, int(CUDA_ERROR_HARDWARE_STACK_ERROR));
  EXPECT_EQ(kMisalignedAddress, int(CUDA_ERROR_MISALIGNED_ADDRESS));
  EXPECT_EQ(kInvalidAddressSpace, int(CUDA_ERROR_INVALID_ADDRESS_SPACE));
  EXPECT_EQ(kLaunchFailed, int(CUDA_ERROR_LAUNCH_FAILED));
  EXPECT_EQ(int(DeviceAttribute::ClockKilohertz), int(CU_DEVICE_ATTRIBUTE_CLOCK_RATE));
  EXPECT_EQ(int(DeviceAttribute::Multiprocessors), int(CU_DEVICE_ATTRIBUTE_MULTIPROCESSOR_COUNT));
  EXPECT_EQ(int(DeviceAttribute::MemoryClockKilohertz), int(CU_DEVICE_ATTRIBUTE_MEMORY_CLOCK_RATE));
  EXPECT_EQ(int(DeviceAttribute::MemoryBusBits), int(CU_DEVICE_ATTRIBUTE_GLOBAL_MEMORY_BUS_WIDTH));
  EXPECT_EQ(int(DeviceAttribute::CapabilityMajor), int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR));
  EXPECT_EQ(int(DeviceAttribute::CapabilityMinor), int(CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR));
  EXPECT_EQ(int(DeviceAttribute::SharedBytesOfBlock),
            int(CU_DEVICE_ATTRIBUTE_MAX_SHARED_MEMORY_PER_BLOCK_OPTIN));
  EXPECT_EQ(int(FunctionAttribute::LocalBytes), int(CU_FUNC_ATTRIBUTE_LOCAL_SIZE_BYTES));
  EXPECT_EQ(int(FunctionAttribute::Registers), int(CU_FUNC_ATTRIBUTE_NUM_REGS));
  EXPECT_EQ(int(FunctionAttribute::DynamicSharedBytes), int(CU_FUNC_ATTRIBUTE_MAX_DYNAMIC_SHARED_SIZE_BYTES));
}

}  // namespace
}  // namespace tunesmith::cuda
#endif
