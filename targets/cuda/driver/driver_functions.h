// NVIDIA's driver as a table of function pointers, with our own types: the build needs no toolkit, nothing is
// linked, and tests fill the table with their own functions.
#pragma once

#include <cstddef>
#include <cstdint>

namespace tunesmith::cuda {

// As in the ABI of cuda.h, whose names for these are CUresult, CUdevice, CUdeviceptr, CUcontext, and so on.
using DriverResult = int;
using DriverOrdinal = int;
using DriverPointer = unsigned long long;
using DriverContext = struct DriverContextOf*;
using DriverModule = struct DriverModuleOf*;
using DriverFunction = struct DriverFunctionOf*;
using DriverStream = struct DriverStreamOf*;
using DriverEvent = struct DriverEventOf*;

/// CUtensorMap.
struct alignas(64) DriverTensorMap {
  uint64_t opaque[16];
};

namespace driver_result {
inline constexpr DriverResult kSuccess = 0;
inline constexpr DriverResult kInvalidValue = 1;
inline constexpr DriverResult kOutOfMemory = 2;
inline constexpr DriverResult kStubLibrary = 34;
inline constexpr DriverResult kNoDevice = 100;
inline constexpr DriverResult kEccUncorrectable = 214;
inline constexpr DriverResult kContained = 226;
inline constexpr DriverResult kNotFound = 500;
inline constexpr DriverResult kIllegalAddress = 700;
inline constexpr DriverResult kLaunchTimeout = 702;
inline constexpr DriverResult kContextIsDestroyed = 709;
inline constexpr DriverResult kAssert = 710;
inline constexpr DriverResult kHardwareStackError = 714;
inline constexpr DriverResult kMisalignedAddress = 716;
inline constexpr DriverResult kInvalidAddressSpace = 717;
inline constexpr DriverResult kLaunchFailed = 719;
inline constexpr DriverResult kUnknown = 999;
}  // namespace driver_result

/// CUdevice_attribute.
enum class DeviceAttribute : int {
  ClockKilohertz = 13,
  Multiprocessors = 16,
  MemoryClockKilohertz = 36,
  MemoryBusBits = 37,
  CapabilityMajor = 75,
  CapabilityMinor = 76,
  SharedBytesOfBlock = 97,
};

/// CUfunction_attribute.
enum class FunctionAttribute : int { LocalBytes = 3, Registers = 4, DynamicSharedBytes = 8 };

/// The version of the interface with the following signatures, for cuGetProcAddress: CUDA 13 has other
/// signatures under the same names.
inline constexpr int kDriverInterface = 12000;

struct DriverFunctions {
  DriverResult (*init)(unsigned flags) = nullptr;
  DriverResult (*driver_version)(int* version) = nullptr;
  DriverResult (*device_count)(int* count) = nullptr;
  DriverResult (*device_get)(DriverOrdinal* device, int ordinal) = nullptr;
  DriverResult (*device_name)(char* name, int size, DriverOrdinal device) = nullptr;
  DriverResult (*device_attribute)(int* value, DeviceAttribute attribute, DriverOrdinal device) = nullptr;
  DriverResult (*context_retain)(DriverContext* context, DriverOrdinal device) = nullptr;
  DriverResult (*context_release)(DriverOrdinal device) = nullptr;
  DriverResult (*context_set)(DriverContext context) = nullptr;
  DriverResult (*synchronize)() = nullptr;
  DriverResult (*module_load)(DriverModule* module, const void* image, unsigned options, int* option_names,
                              void** option_values) = nullptr;
  DriverResult (*module_unload)(DriverModule module) = nullptr;
  DriverResult (*module_function)(DriverFunction* function, DriverModule module, const char* name) = nullptr;
  DriverResult (*function_set)(DriverFunction function, FunctionAttribute attribute, int value) = nullptr;
  DriverResult (*function_get)(int* value, FunctionAttribute attribute, DriverFunction function) = nullptr;
  DriverResult (*allocate)(DriverPointer* pointer, size_t bytes) = nullptr;
  DriverResult (*free)(DriverPointer pointer) = nullptr;
  DriverResult (*copy_to_device)(DriverPointer to, const void* from, size_t bytes) = nullptr;
  DriverResult (*copy_to_host)(void* to, DriverPointer from, size_t bytes) = nullptr;
  DriverResult (*copy_on_device)(DriverPointer to, DriverPointer from, size_t bytes) = nullptr;
  DriverResult (*fill)(DriverPointer pointer, unsigned char value, size_t bytes) = nullptr;
  DriverResult (*launch)(DriverFunction function, unsigned grid_x, unsigned grid_y, unsigned grid_z,
                         unsigned block_x, unsigned block_y, unsigned block_z, unsigned shared_bytes,
                         DriverStream stream, void** parameters, void** extra) = nullptr;
  DriverResult (*encode_tiled)(DriverTensorMap* map, int type, uint32_t rank, void* address,
                               const uint64_t* extents, const uint64_t* strides, const uint32_t* box,
                               const uint32_t* steps, int interleave, int swizzle, int promotion,
                               int fill) = nullptr;
  DriverResult (*event_create)(DriverEvent* event, unsigned flags) = nullptr;
  DriverResult (*event_record)(DriverEvent event, DriverStream stream) = nullptr;
  DriverResult (*event_synchronize)(DriverEvent event) = nullptr;
  DriverResult (*event_elapsed)(float* milliseconds, DriverEvent from, DriverEvent to) = nullptr;
  DriverResult (*event_destroy)(DriverEvent event) = nullptr;
  DriverResult (*error_name)(DriverResult error, const char** name) = nullptr;
};

}  // namespace tunesmith::cuda
