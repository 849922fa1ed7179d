#include "trial_log.h"

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

Measured program(uint64_t lowered_hash, double seconds) {
  auto candidate = std::make_shared<Candidate>();
  candidate->lowered_hash = lowered_hash;
  return {candidate, make_timing({seconds}), std::nullopt};
}

std::vector<std::pair<int64_t, double>> improvements(const TrialLog& log) {
  std::vector<std::pair<int64_t, double>> all;
  for (const Improvement& one : log.improvements()) all.emplace_back(one.trials, one.seconds);
  return all;
}

using Improvements = std::vector<std::pair<int64_t, double>>;

TEST(TrialLog, CountsEachKindOfTrial) {
  TuneResult result;
  TrialLog log(result, 2);
  log.set_unscheduled(1);
  log.add_recorded_ms(1000);
  log.add(program(1, 4.0), TrialLog::Kind::Recorded);
  log.add_failed_before();
  log.add(program(2, 3.0), TrialLog::Kind::Again);
  Measured failed = program(3, 1.0);
  failed.timing.reset();
  failed.failure = CandidateFailure{FailureCause::Crash, "signal 11"};
  log.add(failed, TrialLog::Kind::New);
  log.repeat(program(1, 4.0));
  EXPECT_EQ(result.trials, 4);
  EXPECT_EQ(result.resumed, 3);
  EXPECT_EQ(result.valid, 3);
  EXPECT_EQ(result.failures.at(FailureCause::Crash), 1);
  EXPECT_EQ(result.first_failures.at(FailureCause::Crash), "signal 11");
  EXPECT_EQ(result.baseline_seconds, 4.0);
  EXPECT_EQ(log.leaders().seconds(), 3.0);
  EXPECT_EQ(log.leaders().all().size(), 2U) << "what is repeated leads once";
  EXPECT_EQ(log.trial_ms().front(), 1000);
}

/// Of programs with parameters.
TEST(TrialLog, TheFastestWithSomeValuesLead) {
  TuneResult result;
  TrialLog log(result, 2);
  for (uint64_t number = 1; number <= 6; ++number) {
    Measured one = program(number, static_cast<double>(number));
    one.timing->at = {{{8}, static_cast<double>(number)}, {{1}, number == 5 ? 0.5 : 3.0}};
    log.add(one, TrialLog::Kind::New);
  }
  std::vector<uint64_t> leaders;
  for (const Measured& one : log.leaders().all()) leaders.push_back(one.candidate->lowered_hash);
  EXPECT_EQ(leaders, (std::vector<uint64_t>{1, 5, 2}));
}

/// A run that is resumed meets its own programs and those of others in the order in which they were
/// recorded.
TEST(TrialLog, WhatOthersFoundWasKnownBeforeTheFirstTrial) {
  TuneResult result;
  TrialLog log(result, 4);
  log.add(program(1, 9.0), TrialLog::Kind::Recorded);
  log.add(program(2, 6.0), TrialLog::Kind::Recorded);
  log.add(program(3, 2.0), TrialLog::Kind::Recorded);
  EXPECT_EQ(improvements(log), (Improvements{{1, 9.0}, {2, 6.0}, {3, 2.0}}));
  log.add_of_others(program(4, 7.0));
  EXPECT_EQ(improvements(log), (Improvements{{0, 7.0}, {2, 6.0}, {3, 2.0}}));
  log.add_of_others(program(5, 8.0));
  log.add_of_others(program(6, 6.0));
  EXPECT_EQ(improvements(log), (Improvements{{0, 7.0}, {0, 6.0}, {3, 2.0}}));
  log.add(program(7, 1.0), TrialLog::Kind::New);
  log.add_of_others(program(8, 0.5));
  EXPECT_EQ(improvements(log), (Improvements{{0, 7.0}, {0, 6.0}, {0, 0.5}}));
  EXPECT_EQ(result.trials, 4) << "programs of others are no trials";
  EXPECT_EQ(log.leaders().seconds(), 0.5);
}

}  // namespace
}  // namespace tunesmith
