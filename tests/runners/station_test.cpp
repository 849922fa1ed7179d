// A worker's station without a broker.
#include "broker/station.h"

#include <filesystem>
#include <iterator>

#include <gtest/gtest.h>

namespace tunesmith::broker {
namespace {

std::ptrdiff_t open_descriptors() {
  return std::distance(std::filesystem::directory_iterator("/proc/self/fd"), {});
}

TEST(StationTest, AnUnreachableBrokerLeavesNoDescriptors) {
  const Address nowhere = parse_address("amqp://guest:guest@127.0.0.1:1/", false);
  const Station::Options options{"worker", [] { return std::string(); }, [](const std::string&) {}};
  const std::ptrdiff_t before = open_descriptors();
  for (int attempt = 0; attempt < 3; ++attempt) EXPECT_THROW(Station(nowhere, options), Lost);
  EXPECT_EQ(open_descriptors(), before);
}

}  // namespace
}  // namespace tunesmith::broker
