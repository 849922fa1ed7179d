#include "runner/interleave.h"

#include <algorithm>
#include <optional>
#include <set>
#include <vector>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

const CandidateFailure kCrash{FailureCause::Crash, "crashed"};
const CandidateFailure kLost{FailureCause::WorkerLost, "the worker was ended by signal 9"};
const CandidateFailure kLate{FailureCause::TimeOut, "took more than 2 s"};
const CandidateFailure kWrong{FailureCause::WrongResult, "C[0] is 1, reference 2"};

/// Kernels with given times, on a simulated clock.
class Fake final : public InterleavedRounds {
 public:
  explicit Fake(std::vector<double> seconds) : seconds_(std::move(seconds)) {}

  tl::expected<double, CandidateFailure> add(size_t kernel, bool first) override {
    if (first) taken_.clear();
    alive_ = true;
    ++adds;
    clock += seconds_[kernel];
    if (lost_adds > 0 && kernel == losing) {
      --lost_adds;
      return lose();
    }
    if (kernel == crashing) {
      alive_ = false;
      return tl::make_unexpected(kCrash);
    }
    if (kernel == refused) return tl::make_unexpected(kCrash);
    taken_.push_back(kernel);
    return seconds_[kernel];
  }

  bool alive() const override { return alive_; }

  tl::expected<Samples, CandidateFailure> time(int rounds, double expected) override {
    asked.push_back(rounds);
    EXPECT_GT(expected, 0.0);
    if (lost_times.contains(asked.size())) return lose();
    Samples samples{std::vector<std::vector<double>>(taken_.size()), asked.size() == disturbed};
    for (int round = 0; round < rounds; ++round) {
      if (calls_left && (*calls_left)-- == 0) return tl::make_unexpected(kCrash);
      for (size_t i = 0; i < taken_.size(); ++i) {
        clock += seconds_[taken_[i]];
        samples.seconds[i].push_back(clock);  // no two are equal: a copy would show
      }
    }
    return samples;
  }

  tl::expected<Failures, CandidateFailure> check() override {
    ++checks;
    Failures failures(taken_.size());
    for (size_t i = 0; i < taken_.size(); ++i) {
      if (taken_[i] == wrong_after) failures[i] = kWrong;
    }
    return failures;
  }

  double clock = 0.0;
  int adds = 0;
  int checks = 0;
  std::optional<size_t> wrong_after;  // the kernel that is wrong after its rounds
  std::vector<int> asked;
  size_t disturbed = 0;  // the time() in which the machine is disturbed
  std::optional<size_t> crashing;
  std::optional<size_t> refused;
  std::optional<int> calls_left;
  size_t losing = 0;              // the kernel whose first add()s lose the worker
  int lost_adds = 0;              // how many of these
  std::set<size_t> lost_times{};  // the time()s that do

 private:
  tl::unexpected<CandidateFailure> lose() {
    alive_ = false;
    taken_.clear();
    return tl::make_unexpected(kLost);
  }

  std::vector<double> seconds_;
  std::vector<size_t> taken_;
  bool alive_ = false;
};

/// Like Fake, but each sample is the kernel's time.
class Steady final : public InterleavedRounds {
 public:
  explicit Steady(std::vector<double> seconds) : seconds_(std::move(seconds)) {}
  tl::expected<double, CandidateFailure> add(size_t kernel, bool) override { return seconds_[kernel]; }
  bool alive() const override { return true; }
  tl::expected<Samples, CandidateFailure> time(int rounds, double) override {
    asked.push_back(rounds);
    if (rounds > in_time) return tl::make_unexpected(kLate);
    Samples samples;
    for (const double seconds : seconds_) samples.seconds.emplace_back(static_cast<size_t>(rounds), seconds);
    return samples;
  }
  tl::expected<Failures, CandidateFailure> check() override { return Failures(seconds_.size()); }
  std::vector<int> asked;
  int in_time = 1000;  // more rounds at once take too long

 private:
  std::vector<double> seconds_;
};

size_t rounds_of(std::vector<double> seconds, const InterleaveOptions& options = {.rounds = 40}) {
  Steady where(std::move(seconds));
  return interleave(where, 1, options).front().samples.size();
}

TEST(Interleave, FastKernelsHaveAllTheirRounds) {
  EXPECT_EQ(rounds_of({1e-9}), 40u);
  EXPECT_EQ(rounds_of({1e-3}), 40u);
  EXPECT_EQ(rounds_of({0.2}), 40u);
}

TEST(Interleave, SlowKernelsHaveAsManyRoundsAsFitAndAtLeastThree) {
  EXPECT_EQ(rounds_of({1.0}), 10u);
  EXPECT_EQ(rounds_of({3.0}), 3u);
  EXPECT_EQ(rounds_of({60.0}), 3u);
  EXPECT_EQ(rounds_of({60.0}, {.rounds = 1}), 1u);
  EXPECT_EQ(rounds_of({60.0}, {.rounds = 5, .min_rounds = 5}), 5u);
}

TEST(Interleave, NoSampleIsACopyOfAnother) {
  Fake where({2.0, 1.0});
  const std::vector<InterleavedTimes> times = interleave(where, 2, {.rounds = 40, .budget_seconds = 1e9});
  for (const InterleavedTimes& one : times) {
    ASSERT_EQ(one.samples.size(), 40u);
    EXPECT_TRUE(std::adjacent_find(one.samples.begin(), one.samples.end()) == one.samples.end());
  }
}

TEST(Interleave, RoundsAreAskedForInShortPieces) {
  Steady where({0.01});
  interleave(where, 1, {.rounds = 40});
  EXPECT_EQ(where.asked, (std::vector<int>{1, 20, 19}));
}

TEST(Interleave, CountsTheSamplesOfDisturbedMoments) {
  Fake where({1e-4});
  where.disturbed = 2;
  const std::vector<InterleavedTimes> times = interleave(where, 1, {.rounds = 40});
  ASSERT_GT(where.asked.size(), 1u);
  EXPECT_EQ(times.front().disturbed, static_cast<size_t>(where.asked[1]));
}

TEST(Interleave, AKernelThatFailsIsLeftOut) {
  for (const bool dies : {false, true}) {
    Fake where({1e-3, 1e-3, 1e-3});
    (dies ? where.crashing : where.refused) = 1;
    const std::vector<InterleavedTimes> times = interleave(where, 3, {.rounds = 5});
    EXPECT_EQ(times[0].samples.size(), 5u);
    EXPECT_EQ(times[1].samples.size(), 0u);
    EXPECT_EQ(times[1].failure, kCrash);
    EXPECT_EQ(times[2].samples.size(), 5u);
    EXPECT_FALSE(times[0].failure || times[2].failure);
    EXPECT_EQ(where.adds, dies ? 4 : 3);  // the lost worker also had the first kernel
  }
}

TEST(Interleave, AKernelThatIsWrongAfterItsRoundsHasNoTime) {
  Fake where({1e-3, 1e-3, 1e-3});
  where.refused = 0;
  where.wrong_after = 2;
  const std::vector<InterleavedTimes> times = interleave(where, 3, {.rounds = 5});
  EXPECT_EQ(where.checks, 1);
  EXPECT_EQ(times[1].samples.size(), 5u);
  EXPECT_FALSE(times[1].failure);
  EXPECT_TRUE(times[2].samples.empty());
  EXPECT_EQ(times[2].failure, kWrong);
}

TEST(Interleave, WhatWasMeasuredBeforeAFailureStays) {
  Fake where({1e-1, 1e-1});
  where.calls_left = 7;
  const std::vector<InterleavedTimes> times = interleave(where, 2, {.rounds = 40, .budget_seconds = 1e9});
  for (const InterleavedTimes& one : times) {
    EXPECT_EQ(one.samples.size(), 7u);
    EXPECT_FALSE(one.failure);
  }
  where.calls_left = 0;
  for (const InterleavedTimes& one : interleave(where, 2, {.rounds = 40})) {
    EXPECT_TRUE(one.samples.empty());
    EXPECT_EQ(one.failure, kCrash);
  }
}

TEST(Interleave, WhatALostWorkerWasAskedIsAskedOnceMore) {
  for (const int lost : {1, 2}) {
    Fake where({1e-3, 1e-3, 1e-3});
    where.losing = 1;
    where.lost_adds = lost;
    const std::vector<InterleavedTimes> times = interleave(where, 3, {.rounds = 5});
    EXPECT_EQ(times[0].samples.size(), 5u);
    EXPECT_EQ(times[1].samples.size(), lost == 1 ? 5u : 0u);
    EXPECT_EQ(times[1].failure, lost == 1 ? std::nullopt : std::optional(kLost));
    EXPECT_EQ(times[2].samples.size(), 5u);
  }
}

// On a busy machine, a single round once decided a ranking.
TEST(Interleave, RoundsThatTakeTooLongAreTakenInSmallerPieces) {
  Steady busy({1e-4, 1e-4});
  busy.in_time = 5;
  const std::vector<InterleavedTimes> times = interleave(busy, 2, {.rounds = 40});
  for (const InterleavedTimes& one : times) EXPECT_EQ(one.samples.size(), 40U);
  EXPECT_EQ(std::ranges::count_if(busy.asked, [](int rounds) { return rounds > 5; }), 2);
  Steady hangs({1e-4});
  hangs.in_time = 0;
  EXPECT_EQ(interleave(hangs, 1, {.rounds = 40}).front().failure->cause, FailureCause::TimeOut);
  EXPECT_EQ(hangs.asked.size(), 1U);
}

TEST(Interleave, RoundsOfALostWorkerAreTakenAgain) {
  Fake where({1e-3, 1e-3});
  where.lost_times = {1, 3};
  for (const InterleavedTimes& one : interleave(where, 2, {.rounds = 40})) {
    EXPECT_EQ(one.samples.size(), 40u);
    EXPECT_FALSE(one.failure);
  }
  EXPECT_EQ(where.adds, 6);
  // After two losses in a row, the measurement ends.
  Fake gone({1e-3, 1e-3});
  gone.lost_times = {2, 3};
  for (const InterleavedTimes& one : interleave(gone, 2, {.rounds = 40})) {
    EXPECT_EQ(one.samples.size(), 1u);
    EXPECT_FALSE(one.failure);
  }
}

}  // namespace
}  // namespace tunesmith
