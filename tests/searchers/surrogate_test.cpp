// The bayesian searcher's models, without the searcher.
#include "bayesian/surrogate.h"

#include <algorithm>
#include <cmath>

#include <gtest/gtest.h>

#include "bayesian/acquisition.h"

namespace tunesmith::bayesian {
namespace {

TEST(ExpectedImprovement, IsWhatTheNormalDistributionSays) {
  EXPECT_NEAR(expected_improvement(0.0, 1.0, 0.0), 0.3989422804, 1e-9);
  EXPECT_NEAR(expected_improvement(1.0, 2.0, 0.0), 1.3955931, 1e-6);
  EXPECT_EQ(expected_improvement(2.0, 0.0, 1.5), 0.5);
  EXPECT_EQ(expected_improvement(1.0, 0.0, 1.5), 0.0);
}

TEST(ChooseBatch, EverySecondIsNearAsLongAsThereAreAny) {
  Pool pool;
  pool.points.resize(6);
  pool.validity.assign(6, 1.0);
  pool.near = {false, false, true, false, true, false};
  const auto value = [](size_t, size_t i) { return -static_cast<double>(i); };
  EXPECT_EQ(choose_batch(pool, 10, value, [](size_t) {}), (std::vector<size_t>{2, 0, 4, 1, 3, 5}));
}

TEST(ChooseBatch, WhatProbablyFailsComesLast) {
  Pool pool;
  pool.points.resize(4);
  pool.validity = {0.4, 0.9, 0.1, 0.6};
  pool.near = {true, false, true, false};
  const auto value = [](size_t, size_t i) { return -static_cast<double>(i); };
  EXPECT_EQ(choose_batch(pool, 4, value, [](size_t) {}), (std::vector<size_t>{1, 3, 0, 2}));
}

/// Points with two coordinates, of which only the first matters.
struct Line {
  std::vector<Sample> samples;
  Pool pool;

  Line() {
    RandomStream random(4);
    for (int i = 0; i < 24; ++i) {
      const double x = random.uniform();
      samples.push_back({{0, {x, random.uniform()}}, value(x)});
    }
    for (int i = 0; i <= 40; ++i) {
      pool.points.push_back({0, {static_cast<double>(i) / 40.0, 0.5}});
      pool.validity.push_back(1.0);
      pool.near.push_back(true);
    }
  }
  static double value(double x) { return 1.5 - 12.0 * (x - 0.7) * (x - 0.7); }
};

std::vector<size_t> choose(const Surrogate& surrogate, const Line& line, size_t count) {
  RandomStream random(1);
  return surrogate.choose(line.samples, line.pool, count, random).order;
}

TEST(GaussianProcess, LooksWhereTheBestIs) {
  const Line line;
  const std::vector<size_t> chosen = choose(*make_gaussian_process(64, 64), line, 1);
  ASSERT_EQ(chosen.size(), 1U);
  EXPECT_NEAR(line.pool.points[chosen[0]].x[0], 0.7, 0.1);
}

TEST(GaussianProcess, ABatchIsSpread) {
  const Line line;
  std::vector<size_t> chosen = choose(*make_gaussian_process(64, 64), line, 6);
  std::ranges::sort(chosen);
  EXPECT_EQ(std::ranges::unique(chosen).size(), 0U);
}

TEST(GaussianProcess, WhatFailsIsPassedOver) {
  Line line;
  for (size_t i = 0; i < line.pool.size(); ++i) {
    if (line.pool.points[i].x[0] > 0.6) line.pool.validity[i] = 0.0;
  }
  const std::vector<size_t> chosen = choose(*make_gaussian_process(64, 64), line, 1);
  EXPECT_LE(line.pool.points[chosen[0]].x[0], 0.6);
}

TEST(GaussianProcess, KnowsASketchOfWhichNothingWasMeasured) {
  Line line;
  for (Point& point : line.pool.points) point.sketch = 1;
  line.pool.points.back().prior = 3.0;
  EXPECT_EQ(choose(*make_gaussian_process(64, 64), line, 1), std::vector<size_t>{40});
}

TEST(GaussianProcess, ASubsetKeepsTheBest) {
  // Many late points tell nothing about either; the few best show that the first is better.
  Line line;
  line.samples.clear();
  for (int i = 0; i < 8; ++i) line.samples.push_back({{0, {0.04 * i, 0.5}}, 2.0 - 0.3 * (7 - i)});
  RandomStream random(9);
  for (int i = 0; i < 400; ++i) line.samples.push_back({{0, {0.8 + 0.2 * random.uniform(), 0.5}}, -1.0});
  line.pool.points = {{0, {0.3, 0.5}}, {0, {0.0, 0.5}}};
  EXPECT_EQ(choose(*make_gaussian_process(16, 16), line, 1), std::vector<size_t>{0});
}

#ifdef TUNESMITH_WITH_XGBOOST
TEST(Trees, LookWhereTheBestIs) {
  const Line line;
  const std::vector<size_t> chosen = choose(*make_trees(8), line, 8);
  ASSERT_EQ(chosen.size(), 8U);
  EXPECT_NEAR(line.pool.points[chosen[0]].x[0], 0.7, 0.2);
}
#endif

}  // namespace
}  // namespace tunesmith::bayesian
