// How many jobs a worker takes ahead.
#include "broker/prefetch.h"

#include <gtest/gtest.h>

namespace tunesmith::broker {
namespace {

Prefetch with(double job_seconds, double confirmation_seconds) {
  Prefetch prefetch;
  prefetch.job_took(job_seconds);
  prefetch.confirmation_took(confirmation_seconds);
  return prefetch;
}

TEST(PrefetchTest, TakesOneJobAheadUntilItKnowsMore) {
  EXPECT_EQ(Prefetch().wanted(), 2);
  Prefetch unconfirmed;
  unconfirmed.job_took(1e-3);
  EXPECT_EQ(unconfirmed.wanted(), 2);
}

TEST(PrefetchTest, TakesOneLongJobAhead) { EXPECT_EQ(with(0.3, 0.01).wanted(), 2); }

TEST(PrefetchTest, TakesAsManyShortJobsAheadAsEndOnTheWayThereAndBack) {
  EXPECT_EQ(with(0.25, 0.375).wanted(), 4);
  EXPECT_EQ(with(0.25, 0.376).wanted(), 8);
}

TEST(PrefetchTest, HasALimit) { EXPECT_EQ(with(1e-6, 1.0).wanted(), 32); }

TEST(PrefetchTest, TakesFewerAgainWhenJobsGetLonger) {
  Prefetch prefetch = with(1e-3, 0.01);
  ASSERT_EQ(prefetch.wanted(), 32);
  for (int i = 0; i < 8; ++i) prefetch.job_took(1.0);
  EXPECT_EQ(prefetch.wanted(), 2);
}

}  // namespace
}  // namespace tunesmith::broker
