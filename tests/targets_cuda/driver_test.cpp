// The driver as a table of functions that a test fills, and the messages if there is none.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "driver/detected_architecture.h"
#include "driver/device.h"
#include "support/support_folder.h"

namespace tunesmith::cuda {
namespace {

using namespace driver_result;
using ::testing::HasSubstr;

// The answers of the table's functions, and their arguments.
DriverResult answer_of_init = kSuccess;
int devices = 1;
int version_of_device = 90;
bool says_clocks = true;
std::vector<std::string> asked;
int shared_bytes = 0;

void answer_for_devices(DriverFunctions& table) {
  table.init = [](unsigned) { return answer_of_init; };
  table.device_count = [](int* count) { return *count = devices, kSuccess; };
  table.device_get = [](DriverOrdinal* device, int ordinal) { return *device = ordinal, kSuccess; };
  table.device_name = [](char* name, int, DriverOrdinal) { return name[0] = 'G', name[1] = '\0', kSuccess; };
  table.device_attribute = [](int* value, DeviceAttribute attribute, DriverOrdinal) {
    switch (attribute) {
      case DeviceAttribute::CapabilityMajor:
        return *value = version_of_device / 10, kSuccess;
      case DeviceAttribute::CapabilityMinor:
        return *value = version_of_device % 10, kSuccess;
      case DeviceAttribute::Multiprocessors:
        return *value = 114, kSuccess;
      case DeviceAttribute::SharedBytesOfBlock:
        return *value = 232448, kSuccess;
      case DeviceAttribute::ClockKilohertz:
        return *value = 1755000, says_clocks ? kSuccess : kInvalidValue;
      case DeviceAttribute::MemoryClockKilohertz:
        return *value = 2619000, says_clocks ? kSuccess : kInvalidValue;
      case DeviceAttribute::MemoryBusBits:
        return *value = 5120, kSuccess;
    }
    return kInvalidValue;
  };
}

void answer_for_events(DriverFunctions& table) {
  table.context_retain = [](DriverContext* context, DriverOrdinal) {
    asked.emplace_back("retain");
    return *context = reinterpret_cast<DriverContext>(&devices), kSuccess;
  };
  table.context_release = [](DriverOrdinal) { return asked.emplace_back("release"), kSuccess; };
  table.context_set = [](DriverContext context) { return context == nullptr ? kInvalidValue : kSuccess; };
  table.event_create = [](DriverEvent* event, unsigned) {
    return *event = reinterpret_cast<DriverEvent>(&devices), kSuccess;
  };
  table.event_destroy = [](DriverEvent) { return asked.emplace_back("destroy"), kSuccess; };
  table.event_record = [](DriverEvent, DriverStream) { return kSuccess; };
  table.event_synchronize = [](DriverEvent) { return kSuccess; };
  table.event_elapsed = [](float* milliseconds, DriverEvent, DriverEvent) {
    return *milliseconds = 2.5f, kSuccess;
  };
}

DriverFunctions functions() {
  DriverFunctions table;
  answer_for_devices(table);
  answer_for_events(table);
  table.module_load = [](DriverModule* module, const void*, unsigned, int*, void**) {
    return *module = reinterpret_cast<DriverModule>(&devices), kSuccess;
  };
  table.module_unload = [](DriverModule) { return asked.emplace_back("unload"), kSuccess; };
  table.allocate = [](DriverPointer* pointer, size_t bytes) {
    return *pointer = bytes, bytes < 1000 ? kSuccess : kOutOfMemory;
  };
  table.free = [](DriverPointer pointer) {
    return asked.push_back("free " + std::to_string(pointer)), kSuccess;
  };
  table.module_function = [](DriverFunction* function, DriverModule, const char* name) {
    *function = reinterpret_cast<DriverFunction>(&devices);
    return std::string(name) == "k" ? kSuccess : kNotFound;
  };
  table.function_set = [](DriverFunction, FunctionAttribute attribute, int value) {
    shared_bytes = value;
    return attribute == FunctionAttribute::DynamicSharedBytes && value <= 232448 ? kSuccess : kInvalidValue;
  };
  table.launch = [](DriverFunction, unsigned x, unsigned, unsigned, unsigned threads, unsigned, unsigned,
                    unsigned, DriverStream, void** parameters, void**) {
    asked.push_back(std::to_string(x) + "x" + std::to_string(threads) + " " +
                    std::to_string(*static_cast<DriverPointer*>(parameters[1])));
    return kSuccess;
  };
  table.synchronize = [] { return kIllegalAddress; };
  table.error_name = [](DriverResult error, const char** name) {
    *name = "CUDA_ERROR_ILLEGAL_ADDRESS";
    return error == kIllegalAddress ? kSuccess : kInvalidValue;
  };
  return table;
}

std::unique_ptr<Driver> driver() {
  std::string why_not;
  auto made = Driver::of(functions(), &why_not);
  EXPECT_NE(made, nullptr) << why_not;
  return made;
}

std::string why_absent(DriverResult init, int count) {
  answer_of_init = init;
  devices = count;
  std::string why_not;
  EXPECT_EQ(Driver::of(functions(), &why_not), nullptr);
  answer_of_init = kSuccess;
  devices = 1;
  return why_not;
}

TEST(Driver, IsAbsentForAReason) {
  std::string why_not;
  EXPECT_EQ(Driver::load("libno_such_driver.so.1", &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("libno_such_driver.so.1"));
  EXPECT_EQ(Driver::load("libc.so.6", &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("cuGetProcAddress_v2"));
  EXPECT_THAT(why_absent(kStubLibrary, 1), HasSubstr("stub"));
  EXPECT_THAT(why_absent(kNoDevice, 1), HasSubstr("knows no GPU"));
  EXPECT_THAT(why_absent(kSuccess, 0), HasSubstr("knows no GPU"));
  EXPECT_THAT(why_absent(kIllegalAddress, 1), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
  EXPECT_THAT(why_absent(kUnknown, 1), HasSubstr("error 999"));
}

TEST(Driver, TheToolkitsStubIsNone) {
  const char* const toolkit = std::getenv("CUDA_HOME");
  const std::filesystem::path stub =
      std::filesystem::path(toolkit != nullptr ? toolkit : "/usr/local/cuda") / "lib64/stubs/libcuda.so";
  if (!std::filesystem::exists(stub)) GTEST_SKIP() << stub << " is not there";
  std::string why_not;
  EXPECT_EQ(Driver::load(stub.string(), &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("stub"));
}

TEST(Driver, KernelsErrorsLoseTheDeviceAndOthersDoNot) {
  for (const DriverResult error :
       {kIllegalAddress, kLaunchFailed, kMisalignedAddress, kLaunchTimeout, 715, kUnknown})
    EXPECT_TRUE(DriverError("", error).lost()) << error;
  for (const DriverResult error : {kInvalidValue, kOutOfMemory, kNotFound, 701 /* out of resources */})
    EXPECT_FALSE(DriverError("", error).lost()) << error;
}

TEST(Devices, SayWhatTheyAre) {
  const auto here = driver();
  DeviceDescription device = describe_device(*here);
  EXPECT_EQ(device.name, "G");
  EXPECT_EQ(device.multiprocessors, 114u);
  EXPECT_EQ(device.clock_mhz, 1755u);
  EXPECT_EQ(device.memory_gb_per_second, 3352u);
  says_clocks = false;
  device = describe_device(*here);
  EXPECT_EQ(device.clock_mhz, 0u);
  EXPECT_EQ(device.memory_gb_per_second, 0u);
  says_clocks = true;
}

TEST(Devices, LaunchAndTakeTimesThroughTheTable) {
  const auto here = driver();
  asked.clear();
  {
    const Device device(*here);
    Launch launch{{7, 1, 1}, {64, 1, 1}, 65536};
    const DeviceModule module;
    const DriverFunction function = device.function(module, "k", launch);
    EXPECT_EQ(shared_bytes, 65536);
    DriverPointer first = 11, second = 12;
    std::vector<void*> parameters{&first, &second};
    device.begin_time();
    device.launch(function, launch, parameters);
    EXPECT_DOUBLE_EQ(device.end_time(), 2.5e-3);
    EXPECT_THROW(device.function(module, "other", launch), DriverError);
    launch.dynamic_shared_bytes = 300000;
    EXPECT_THROW(device.function(module, "k", launch), DriverError);
    try {
      device.wait();
      FAIL() << "the launch did wrong";
    } catch (const DriverError& error) {
      EXPECT_THAT(error.what(), HasSubstr("CUDA_ERROR_ILLEGAL_ADDRESS"));
      EXPECT_TRUE(error.lost());
    }
  }
  EXPECT_THAT(asked, ::testing::ElementsAre("retain", "7x64 12", "destroy", "destroy", "release"));
}

TEST(Devices, AreGivenBackWhatTheyGave) {
  const auto here = driver();
  const Device device(*here);
  asked.clear();
  try {
    DeviceMemory first = device.allocate(64), second = device.allocate(32);
    const DeviceModule module = device.load("a cubin");
    const DeviceMemory moved = std::move(first);
    EXPECT_EQ(moved.get(), 64u);
    second = device.allocate(16);
    EXPECT_THAT(asked, ::testing::ElementsAre("free 32"));
    device.allocate(1000);
    FAIL() << "there is no such memory";
  } catch (const DriverError&) {
    EXPECT_THAT(asked, ::testing::ElementsAre("free 32", "free 64", "unload", "free 16"));
  }
}

DeviceDescription device_of_version(int major, int minor) {
  DeviceDescription device;
  device.name = "G";
  device.major = major;
  device.minor = minor;
  return device;
}

TEST(DetectedArchitecture, IsTheNewestWhoseCodeTheDeviceRuns) {
  for (const auto& [major, minor, name] : {std::tuple{7, 5, "sm_75"},
                                           {8, 0, "sm_80"},
                                           {8, 6, "sm_86"},
                                           {8, 7, "sm_86"},
                                           {8, 9, "sm_89"},
                                           {9, 0, "sm_90a"},
                                           {10, 0, "sm_100a"},
                                           {10, 3, "sm_100"},
                                           {12, 0, "sm_120"},
                                           {12, 1, "sm_120"}})
    EXPECT_EQ(architecture_of(device_of_version(major, minor)).name, name);
  EXPECT_THROW(architecture_of(device_of_version(7, 0)), UserError);
  EXPECT_THROW(architecture_of(device_of_version(13, 0)), UserError);
}

TEST(DetectedArchitecture, CodeForAnotherDeviceIsRefused) {
  const auto why = [](const char* name, int major, int minor) {
    return why_not_run(find_architecture(name), device_of_version(major, minor));
  };
  EXPECT_EQ(why("sm_80", 8, 6), "");
  EXPECT_EQ(why("sm_90", 9, 0), "");
  EXPECT_EQ(why("sm_90a", 9, 0), "");
  EXPECT_THAT(why("sm_80", 9, 0), HasSubstr("does not run code for sm_80"));
  EXPECT_NE(why("sm_89", 8, 6), "");
  EXPECT_NE(why("sm_100a", 10, 3), "");
}

TEST(DetectedArchitecture, HasTheSpeedsThatTheDeviceSays) {
  Architecture architecture = find_architecture("sm_90a");
  const unsigned memory = architecture.memory_gb_per_second;
  DeviceDescription device = device_of_version(9, 0);
  device.multiprocessors = 78;
  device.clock_mhz = 1980;
  take_speeds(architecture, device);
  EXPECT_EQ(architecture.multiprocessors, 78u);
  EXPECT_EQ(architecture.clock_mhz, 1980u);
  EXPECT_EQ(architecture.memory_gb_per_second, memory) << "the device does not say";
}

}  // namespace
}  // namespace tunesmith::cuda
