#include "evaluate_scores.h"

#include <cmath>
#include <vector>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

TEST(JudgeScores, OrdersAndOppositeOrders) {
  const std::vector<double> throughputs{0.1, 0.4, 0.2, 0.8, 0.3, 0.5, 0.7, 0.6};
  EXPECT_DOUBLE_EQ(evaluate_scores(throughputs, throughputs).rank_correlation, 1.0);
  EXPECT_DOUBLE_EQ(evaluate_scores(throughputs, throughputs).best_of_eighth, 1.0);
  std::vector<double> opposite;
  for (const double throughput : throughputs) opposite.push_back(-throughput);
  EXPECT_DOUBLE_EQ(evaluate_scores(opposite, throughputs).rank_correlation, -1.0);
  EXPECT_DOUBLE_EQ(evaluate_scores(opposite, throughputs).best_of_eighth, 0.1 / 0.8);
}

// Ranks 1, 2.5, 2.5, 4 against 1, 3, 2, 4: the covariance is 4.5 of sqrt(4.5 * 5).
TEST(JudgeScores, EqualScoresShareARank) {
  const ModelBatch batch = evaluate_scores(std::vector{1.0, 2.0, 2.0, 3.0}, std::vector{0.1, 0.3, 0.2, 0.4});
  EXPECT_NEAR(batch.rank_correlation, 4.5 / std::sqrt(4.5 * 5.0), 1e-12);
  EXPECT_EQ(batch.programs, 4);
}

TEST(JudgeScores, WhereNothingIsOrderedThereIsNoCorrelation) {
  EXPECT_EQ(evaluate_scores(std::vector{1.0, 1.0, 1.0}, std::vector{0.1, 0.2, 0.3}).rank_correlation, 0.0);
  const ModelBatch all_failed = evaluate_scores(std::vector{1.0, 2.0, 3.0}, std::vector{0.0, 0.0, 0.0});
  EXPECT_EQ(all_failed.rank_correlation, 0.0);
  EXPECT_EQ(all_failed.best_of_eighth, 0.0);
}

TEST(JudgeScores, ErrorIsAboutTheLineThatFits) {
  const std::vector<double> throughputs{2.0, 4.0, 6.0, 8.0};
  EXPECT_NEAR(evaluate_scores(std::vector{-3.0, -1.0, 1.0, 3.0}, throughputs).rmse, 0.0, 1e-12);
  // Without order the line is the mean, 5 of 8: the errors are 3, 1, 1 and 3.
  EXPECT_NEAR(evaluate_scores(std::vector{1.0, 1.0, 1.0, 1.0}, throughputs).rmse, std::sqrt(5.0) / 8.0,
              1e-12);
  EXPECT_EQ(evaluate_scores(std::vector{1.0, 2.0}, std::vector{0.0, 0.0}).rmse, 0.0);
}

ModelBatch batch_of(double correlation) {
  ModelBatch batch;
  batch.programs = 65;  // one in twenty is below -0.206
  batch.rank_correlation = correlation;
  return batch;
}

TEST(ChanceWatch, TakesThreeRoundsInSuccession) {
  ChanceWatch watch;
  for (const double correlation : {-0.5, -0.5, -0.2, -0.3, -0.21})
    EXPECT_FALSE(watch.worse(batch_of(correlation)));
  EXPECT_TRUE(watch.worse(batch_of(-0.21)));
}

}  // namespace
}  // namespace tunesmith
