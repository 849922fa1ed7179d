#include <set>

#include <gtest/gtest.h>

#include <tunesmith/measure/failure.h>

namespace tunesmith {
namespace {

TEST(FailureCause, EveryNameIsUniqueAndParsesBack) {
  std::set<std::string_view> names;
  for (const FailureCause cause : all_failure_causes()) {
    EXPECT_TRUE(names.insert(failure_cause_name(cause)).second) << failure_cause_name(cause);
    EXPECT_EQ(parse_failure_cause(failure_cause_name(cause)), cause);
    EXPECT_FALSE(failure_cause_meaning(cause).empty());
  }
  EXPECT_EQ(names.size(), 15u);
}

// Records of older versions contain these names.
TEST(FailureCause, NamesInRecordsStayAsTheyAre) {
  EXPECT_EQ(failure_cause_name(FailureCause::IllegalSchedule), "illegal_schedule");
  EXPECT_EQ(failure_cause_name(FailureCause::OutOfBounds), "out_of_bounds");
  EXPECT_EQ(failure_cause_name(FailureCause::TimeOut), "time_out");
  EXPECT_EQ(failure_cause_name(FailureCause::WorkerLost), "worker_lost");
}

TEST(FailureCause, UnknownNamesAreNotCauses) {
  EXPECT_FALSE(parse_failure_cause("").has_value());
  EXPECT_FALSE(parse_failure_cause("Crash").has_value());
  EXPECT_FALSE(parse_failure_cause("crash ").has_value());
}

}  // namespace
}  // namespace tunesmith
