#include "stop_rule.h"

#include <atomic>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

class StopRuleTest : public testing::Test {
 protected:
  StopRuleTest() {
    options_.trials = 10;
    hooks_.stop = &stop_;
  }

  TuneOptions options_;
  TuneHooks hooks_;
  TuneResult result_;
  std::atomic<bool> stop_ = false;
  StopRule rule_{options_, hooks_, result_};
};

TEST_F(StopRuleTest, RoomEndsWhereTheRunDoes) {
  result_.trials = 4;
  EXPECT_EQ(rule_.room(8), 4);
  EXPECT_EQ(rule_.room(16), 6);
  EXPECT_EQ(rule_.left(), 6);
  EXPECT_FALSE(rule_.enough());
  result_.trials = 10;
  EXPECT_TRUE(rule_.enough());
  EXPECT_EQ(rule_.why_ended(), "trials");
}

TEST_F(StopRuleTest, AStopLeavesNoRoom) {
  EXPECT_EQ(rule_.why_ended(), "nothing left to propose");
  stop_ = true;
  EXPECT_EQ(rule_.room(8), 0);
  EXPECT_EQ(rule_.why_ended(), "interrupted");
}

TEST_F(StopRuleTest, TimeCountsInSteps) {
  options_.time_limit_seconds = 1e-9;
  EXPECT_FALSE(rule_.late()) << "nothing was done yet";
  {
    const StopRule::Step step(rule_);
    EXPECT_TRUE(rule_.in_step());
    EXPECT_GT(rule_.seconds(), 0.0);
  }
  EXPECT_FALSE(rule_.in_step());
  EXPECT_GT(result_.times.wall, 0.0);
  EXPECT_EQ(rule_.seconds(), result_.times.wall);
  EXPECT_TRUE(rule_.late());
  EXPECT_EQ(rule_.why_ended(), "time limit");
}

}  // namespace
}  // namespace tunesmith
