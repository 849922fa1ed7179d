// The learned model, updated with measurements one batch after the other.
#include "xgboost/learner.h"

#include <gtest/gtest.h>

#include <tunesmith/search/score_quality.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using xgboost::Learner;
using xgboost::Settings;

/// Sums of two matrices by loops of different lengths; the times follow from the lengths.
std::vector<Measured> measured(size_t count) {
  std::vector<Measured> results;
  for (size_t i = 0; i < count; ++i) {
    const auto rows = static_cast<int64_t>(8 + i % 7);
    const auto columns = static_cast<int64_t>(8 + 16 * (i % 11));
    auto candidate = std::make_shared<Candidate>();
    candidate->lowered = lower(test::gmm(rows, columns, static_cast<int64_t>(4 + i % 13)), LowerOptions());
    candidate->lowered_hash = i;
    results.push_back({candidate, make_timing({1e-6 * static_cast<double>(rows * columns)}), std::nullopt});
  }
  return results;
}

std::vector<double> scores_after(const std::vector<Measured>& results, size_t at_a_time, Settings settings) {
  Learner learner(settings);
  learner.begin(DeviceModel());
  for (size_t begin = 0; begin < results.size(); begin += at_a_time)
    learner.update(std::span(results).subspan(begin, std::min(at_a_time, results.size() - begin)));
  std::vector<CandidatePtr> candidates;
  for (const Measured& result : results) candidates.push_back(result.candidate);
  return learner.predict(candidates);
}

TEST(Learner, WhatIsLearntDoesNotDependOnHowManyComeAtATime) {
  const std::vector<Measured> results = measured(200);
  Settings settings;
  settings.trees = 20;
  for (const int most : {2048, 64}) {  // all of them, and a choice
    settings.most_programs = most;
    const std::vector<double> at_once = scores_after(results, 200, settings);
    EXPECT_EQ(scores_after(results, 10, settings), at_once) << most;
    EXPECT_EQ(scores_after(results, 7, settings), at_once) << most;
  }
}

TEST(Learner, AChoiceOfTheProgramsSuffices) {
  const std::vector<Measured> results = measured(256);
  Settings settings;
  settings.most_programs = 64;
  std::vector<double> throughputs;
  for (const Measured& result : results) throughputs.push_back(1.0 / result.timing->min);
  EXPECT_GT(pairs_in_order(scores_after(results, 64, settings), throughputs), 0.9);
}

TEST(Learner, ProgramsBeyondAStepWait) {
  const std::vector<Measured> results = measured(70);
  Learner learner{Settings()};
  learner.begin(DeviceModel());
  learner.update(std::span(results).first(15));
  EXPECT_EQ(learner.learned(), 0U);
  learner.update(std::span(results).subspan(15));
  EXPECT_EQ(learner.learned(), 64U);
  EXPECT_GT(learner.trees().trees(), 0);
}

TEST(Learner, KeepsWhatItLearntOfTheTaskBefore) {
  const std::vector<Measured> results = measured(128);
  Learner learner{Settings()};
  learner.begin(DeviceModel());
  learner.update(results);
  const std::vector<CandidatePtr> one{results.front().candidate};
  const std::vector<double> before = learner.predict(one);
  learner.begin(DeviceModel());
  EXPECT_EQ(learner.predict(one), before);
  EXPECT_EQ(learner.learned(), 0U);
}

}  // namespace
}  // namespace tunesmith
