#include <gtest/gtest.h>

#include <tunesmith/support/error.h>
#include <tunesmith/target/device_model.h>

namespace tunesmith {
namespace {

TEST(DeviceModel, GivesWhatWasSet) {
  DeviceModel device;
  device.set("cores", 2);
  EXPECT_EQ(device.get("cores"), 2.0);
  EXPECT_EQ(device.find("warp_size"), std::nullopt);
  EXPECT_EQ(device.get_or("warp_size", 32), 32.0);
}

TEST(DeviceModel, NamesTheNearestQuantityWhenOneIsMissing) {
  DeviceModel device;
  device.set("vector_bits", 512);
  try {
    device.get("vector_bit");
    FAIL();
  } catch (const EnvironmentError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'vector_bits'?"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tunesmith
