#include "rank.h"

#include <functional>
#include <map>

#include <gmock/gmock.h>

#include "tunesmith/support/random.h"
#include "tunesmith/target/benchmarking.h"

namespace tunesmith {
namespace {

/// `seconds` gives the nth sample of a kernel, which its code identifies.
class ScriptedRunner final : public Runner {
 public:
  using Seconds = std::function<double(const std::string& kernel, size_t sample)>;
  explicit ScriptedRunner(Seconds seconds) : seconds_(std::move(seconds)) {}

  std::vector<MeasureResult> run(std::span<const MeasureRequest> /*requests*/) override { return {}; }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times(kernels.size());
    contestants.push_back(kernels.size() - 1);
    if (contestants.size() > stopped_after) return times;
    for (size_t i = 0; i < kernels.size(); ++i) {
      for (int round = 0; round < options.rounds; ++round) {
        const double seconds = seconds_(kernels[i]->object, taken[kernels[i]->object]);
        if (seconds < 0.0) break;
        times[i].samples.push_back(seconds);
        if (at_) {
          times[i].at.resize(2);
          times[i].at[0] = {{8}, times[i].samples};
          times[i].at[1].values = {1};
          times[i].at[1].samples.push_back(at_(kernels[i]->object));
        }
        ++taken[kernels[i]->object];
      }
    }
    return times;
  }

  /// With parameters the samples are of 8, and these of 1.
  void also_at_one(std::function<double(const std::string& kernel)> seconds) { at_ = std::move(seconds); }

  size_t stopped_after = 1000;
  std::map<std::string, size_t> taken;  // samples, by kernel
  std::vector<size_t> contestants;      // number in each call, without the peak kernel

 private:
  Seconds seconds_;
  std::function<double(const std::string& kernel)> at_;
};

class Rank : public testing::Test {
 protected:
  /// `count` kernels, called "0", "1", ...
  Ranking rank_of(ScriptedRunner& runner, size_t count, double expected = 1e-4, size_t kept = 0) {
    kernels_.resize(count);
    std::vector<const CompiledKernel*> pointers;
    for (size_t i = 0; i < count; ++i) {
      kernels_[i].object = std::to_string(i);
      pointers.push_back(&kernels_[i]);
    }
    PeakKernel peak;
    peak.kernel.object = "peak";
    peak.operations = peak_operations_;
    const std::vector<double> seconds(count, expected);
    return rank(runner, pointers, seconds, kept, peak, {.rounds = 40});
  }

  std::vector<CompiledKernel> kernels_;
  double peak_operations_ = 1e6;
};

double by_number(const std::string& kernel) {
  return kernel == "peak" ? 1e-6 : 1e-3 * (1 + std::stoi(kernel));
}

TEST_F(Rank, TheSlowerHalfIsLetGoUntilFiveAreLeft) {
  ScriptedRunner runner([](const std::string& kernel, size_t) { return by_number(kernel); });
  const Ranking ranking = rank_of(runner, 16);
  EXPECT_THAT(runner.contestants, testing::ElementsAre(16, 8, 5));
  EXPECT_EQ(ranking.best, 0U);
  for (size_t i = 0; i < 16; ++i) {
    EXPECT_EQ(ranking.kernels[i].samples.size(), i < 5 ? 40U : i < 8 ? 15U : 5U) << i;
    EXPECT_EQ(ranking.kernels[i].time.has_value(), i < 5) << i;
  }
  EXPECT_EQ(runner.taken["peak"], 40U);
  EXPECT_DOUBLE_EQ(ranking.peak_operations_per_second, 1e12);
}

TEST_F(Rank, FewAreAllTimedToTheEnd) {
  ScriptedRunner runner([](const std::string& kernel, size_t) { return by_number(kernel); });
  const Ranking ranking = rank_of(runner, 5);
  EXPECT_THAT(runner.contestants, testing::ElementsAre(5));
  for (const RankedKernel& kernel : ranking.kernels) EXPECT_EQ(kernel.time->samples, 40U);
}

TEST_F(Rank, APeakWithoutOperationsIsNotTimed) {
  ScriptedRunner runner([](const std::string& kernel, size_t) { return by_number(kernel); });
  peak_operations_ = 0.0;
  const Ranking ranking = rank_of(runner, 5);
  EXPECT_EQ(runner.taken.count("peak"), 0U);
  EXPECT_EQ(ranking.peak_operations_per_second, 0.0);
  for (const RankedKernel& kernel : ranking.kernels) EXPECT_EQ(kernel.time->samples, 40U);
}

/// The search's favourite was lucky; the ninth of sixteen is the fastest.
TEST_F(Rank, TheFastestWinsWhereverTheSearchHadIt) {
  ScriptedRunner runner(
      [](const std::string& kernel, size_t) { return kernel == "8" ? 0.5e-3 : by_number(kernel); });
  EXPECT_EQ(rank_of(runner, 16).best, 8U);
}

TEST_F(Rank, OfSlowKernelsFewerTakePart) {
  ScriptedRunner runner([](const std::string& kernel, size_t) { return by_number(kernel); });
  rank_of(runner, 16, 0.07);  // five rounds of seven are 2.45 s
  EXPECT_THAT(runner.contestants, testing::ElementsAre(7, 5));
  ScriptedRunner slower([](const std::string& kernel, size_t) { return by_number(kernel); });
  rank_of(slower, 16, 3.0);
  EXPECT_THAT(slower.contestants, testing::ElementsAre(5));
}

TEST_F(Rank, WhatIsKeptIsInAllRoundsHoweverSlow) {
  ScriptedRunner runner(
      [](const std::string& kernel, size_t) { return kernel == "0" ? 1.0 : by_number(kernel); });
  const Ranking ranking = rank_of(runner, 16, 1e-4, 1);
  EXPECT_THAT(runner.contestants, testing::ElementsAre(16, 9, 6));
  EXPECT_EQ(ranking.best, 1U);
  EXPECT_EQ(ranking.kernels[0].time->samples, 40U);
}

/// In a rare fast moment of the clock something else lengthened the faster one's samples.
TEST_F(Rank, WhatIsTheFastestWithSomeValuesIsInAllRounds) {
  ScriptedRunner runner([](const std::string& kernel, size_t) { return by_number(kernel); });
  runner.also_at_one([](const std::string& kernel) { return kernel == "14" ? 1e-6 : 1e-5; });
  const Ranking ranking = rank_of(runner, 16);
  EXPECT_THAT(runner.contestants, testing::ElementsAre(16, 9, 6, 6));
  EXPECT_EQ(ranking.best, 0U);
  EXPECT_THAT(ranking.kernels[14].at,
              testing::UnorderedElementsAre(TimeAt{{8}, by_number("14")}, TimeAt{{1}, 1e-6}));
  EXPECT_THAT(ranking.kernels[13].at, testing::IsEmpty());
}

TEST_F(Rank, ProgramsAreComparedWithinRounds) {
  ScriptedRunner runner([](const std::string& kernel, size_t sample) {
    const double clock = sample % 8 == 3 ? 0.8 : 1.0;
    const bool lengthened = kernel == "0" && sample % 8 == 3;
    return (kernel == "0" ? 1e-3 : 1.06e-3) * clock * (lengthened ? 1.5 : 1.0);
  });
  const Ranking ranking = rank_of(runner, 2);
  EXPECT_EQ(ranking.best, 0U);
  EXPECT_NEAR(ranking.kernels[1].time->value / ranking.kernels[0].time->value, 1.06, 1e-9);
}

/// All but the first take `of_others`, each with independent noise of 1 %.
ScriptedRunner beside_known(double of_others) {
  return ScriptedRunner([of_others](const std::string& kernel, size_t sample) {
    const size_t number = kernel == "peak" ? 9 : static_cast<size_t>(std::stoi(kernel));
    const double noise = RandomStream(100 * number + sample).uniform();
    return (number == 0 ? 1e-3 : of_others) * (1.0 + 0.01 * noise);
  });
}

TEST_F(Rank, WhatIsKnownStaysTheBestUntilAnotherIsClearlyFaster) {
  ScriptedRunner noise = beside_known(0.995e-3);
  const Ranking same = rank_of(noise, 3, 1e-4, 1);
  EXPECT_EQ(same.best, 0U);
  EXPECT_EQ(same.kernels[1].time->value, same.kernels[0].time->value);
  ScriptedRunner faster = beside_known(0.97e-3);
  EXPECT_NE(rank_of(faster, 3, 1e-4, 1).best, 0U);
  ScriptedRunner unknown = beside_known(0.995e-3);
  EXPECT_NE(rank_of(unknown, 3).best, 0U) << "nothing is on record";
}

TEST_F(Rank, WhatFailsIsLeftOut) {
  ScriptedRunner runner([](const std::string& kernel, size_t sample) {
    return kernel == "0" || (kernel == "1" && sample >= 5) ? -1.0 : by_number(kernel);
  });
  const Ranking ranking = rank_of(runner, 16);
  EXPECT_EQ(ranking.best, 2U);
  EXPECT_FALSE(ranking.kernels[0].time);
  EXPECT_FALSE(ranking.kernels[1].time);
}

TEST_F(Rank, AStopLeavesWhatWasTaken) {
  ScriptedRunner runner([](const std::string& kernel, size_t) { return by_number(kernel); });
  runner.stopped_after = 1;
  const Ranking ranking = rank_of(runner, 16);
  EXPECT_EQ(ranking.best, 0U);
  EXPECT_EQ(ranking.kernels[0].time->samples, 5U);
  ScriptedRunner at_once([](const std::string& kernel, size_t) { return by_number(kernel); });
  at_once.stopped_after = 0;
  EXPECT_FALSE(rank_of(at_once, 16).best);
}

}  // namespace
}  // namespace tunesmith
