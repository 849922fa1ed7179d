#include "tunesmith/search/score_quality.h"

#include <vector>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

const std::vector<double> kThroughputs{0.0, 1.0, 1.05, 2.0, 4.0};

TEST(ScoreQuality, PairsAreCountedOnce) {
  EXPECT_DOUBLE_EQ(pairs_in_order(kThroughputs, kThroughputs), 1.0);
  const std::vector<double> last_two_swapped{0.0, 1.0, 1.05, 4.0, 2.0};
  EXPECT_DOUBLE_EQ(pairs_in_order(last_two_swapped, kThroughputs), 0.9);
}

TEST(ScoreQuality, EqualScoresCountHalf) {
  EXPECT_DOUBLE_EQ(pairs_in_order(std::vector(5, 1.0), kThroughputs), 0.5);
}

TEST(ScoreQuality, PairsThatAreNearMayBeLeftOut) {
  const std::vector<double> middle_swapped{0.0, 1.05, 1.0, 2.0, 4.0};
  EXPECT_DOUBLE_EQ(pairs_in_order(middle_swapped, kThroughputs), 0.9);
  EXPECT_DOUBLE_EQ(pairs_in_order(middle_swapped, kThroughputs, 1.1), 1.0);
}

TEST(ScoreQuality, WithoutPairsThereIsNoOrder) {
  EXPECT_DOUBLE_EQ(pairs_in_order(std::vector{1.0, 2.0}, std::vector{3.0, 3.0}), 0.5);
  EXPECT_DOUBLE_EQ(pairs_in_order({}, {}), 0.5);
  EXPECT_DOUBLE_EQ(rank_correlation({}, {}), 0.0);
  EXPECT_DOUBLE_EQ(best_of_first({}, {}, 3), 0.0);
}

TEST(ScoreQuality, TheBestOfTheFirst) {
  const std::vector<double> scores{5.0, 4.0, 3.0, 2.0, 1.0};
  EXPECT_DOUBLE_EQ(best_of_first(scores, kThroughputs, 1), 0.0);
  EXPECT_DOUBLE_EQ(best_of_first(scores, kThroughputs, 3), 1.05 / 4.0);
  EXPECT_DOUBLE_EQ(best_of_first(scores, kThroughputs, 64), 1.0);
}

}  // namespace
}  // namespace tunesmith
