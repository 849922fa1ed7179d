// One work runs at a time, and the next one does not depend on how long each waits.
#include "relay.h"

#include <chrono>
#include <string>
#include <vector>

#include <gmock/gmock.h>

#include "tunesmith/support/error.h"

namespace tunesmith {
namespace {

using testing::ElementsAre;

/// Two works that wait twice; the first waits `first` milliseconds each time.
std::vector<std::string> order_of(int first, int second) {
  std::vector<std::string> said;
  Relay relay(2);
  for (const size_t name : {1, 2}) {
    relay.begin(name, [&, name] {
      for (const char* part : {"a", "b"}) {
        said.push_back(part + std::to_string(name));
        relay.apart(
            [&] { std::this_thread::sleep_for(std::chrono::milliseconds(name == 1 ? first : second)); });
      }
    });
  }
  EXPECT_TRUE(relay.full());
  while (!relay.empty()) {
    if (const auto done = relay.go_on()) said.push_back("end " + std::to_string(done->name));
  }
  return said;
}

TEST(Relay, TheOrderIsTheSameHoweverLongEachWaits) {
  EXPECT_THAT(order_of(0, 0), ElementsAre("a1", "a2", "b1", "b2", "end 1", "end 2"));
  EXPECT_EQ(order_of(30, 0), order_of(0, 0));
  EXPECT_EQ(order_of(0, 30), order_of(0, 0));
}

TEST(Relay, OneAtOnceRunsInTheThreadOfItsOwner) {
  Relay relay(1);
  std::thread::id ran;
  relay.begin(7, [&] { relay.apart([&] { ran = std::this_thread::get_id(); }); });
  EXPECT_EQ(relay.go_on()->name, 7U);
  EXPECT_EQ(ran, std::this_thread::get_id());
  EXPECT_TRUE(relay.empty());
}

TEST(Relay, WhatAWorkThrowsIsTheOwners) {
  Relay relay(2);
  relay.begin(1, [&] { relay.apart([] { throw UserError("there is none"); }); });
  const auto done = relay.go_on();
  ASSERT_TRUE(done && done->error);
  EXPECT_THROW(std::rethrow_exception(done->error), UserError);
}

TEST(Relay, WhatHasNotBegunNeverDoes) {
  bool began = false;
  {
    Relay relay(1);
    relay.begin(1, [&] { began = true; });
  }
  EXPECT_FALSE(began);
}

TEST(Relay, WhatStillWaitsIsEndedWithIt) {
  bool went_on = false;
  {
    Relay relay(2);
    relay.begin(1, [&] {
      relay.apart([] {});
      went_on = true;
    });
  }
  EXPECT_FALSE(went_on);
}

}  // namespace
}  // namespace tunesmith
