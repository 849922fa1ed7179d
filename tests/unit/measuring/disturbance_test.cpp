#include "runner/disturbance.h"

#include <atomic>
#include <chrono>
#include <memory>
#include <thread>

#include <gtest/gtest.h>
#include <unistd.h>

#include "tunesmith/measuring/peak.h"

namespace tunesmith {
namespace {

constexpr Reading kQuiet{20e-6, 0.0};
constexpr Reading kSlowed{40e-6, 0.0};
constexpr Reading kPreempted{20e-6, 0.5};

MeasureResult timed(double seconds, bool disturbed) {
  MeasureResult result;
  result.timing = make_timing({seconds});
  result.disturbed = disturbed;
  return result;
}

/// A machine with scripted moments, one for each measurement; the last one lasts. A disturbed moment doubles
/// times.
class Machine {
 public:
  explicit Machine(std::vector<Reading> moments) : moments_(std::move(moments)) {}

  MeasureResult measure(double seconds) {
    const Reading moment = moments_[std::min(static_cast<size_t>(measurements++), moments_.size() - 1)];
    const double factor = moment.calibration > kQuiet.calibration || moment.waited > 0 ? 2.0 : 1.0;
    return timed(factor * seconds, detector.disturbed(moment));
  }

  /// Measures a group like a runner.
  std::vector<MeasureResult> group(const std::vector<double>& seconds, double best = 0.0) {
    std::vector<MeasureResult> results;
    for (const double one : seconds) results.push_back(measure(one));
    repeat_disturbed(
        results, detector, best, [&](size_t i) { return measure(seconds[i]); }, [] { return true; });
    return results;
  }

  DisturbanceDetector detector;
  int measurements = 0;

 private:
  std::vector<Reading> moments_;
};

TEST(Disturbance, WhatADisturbedMomentSpoiltIsMeasuredAgain) {
  for (const Reading& bad : {kSlowed, kPreempted}) {
    Machine machine({kQuiet, kQuiet, bad, bad, kQuiet});
    const std::vector<MeasureResult> results = machine.group({1.0, 2.0, 3.0, 4.0, 5.0});
    EXPECT_EQ(machine.measurements, 7);
    for (size_t i = 0; i < results.size(); ++i) {
      EXPECT_EQ(results[i].timing->min, 1.0 + static_cast<double>(i));
      EXPECT_FALSE(results[i].disturbed.value());
    }
  }
}

TEST(Disturbance, WhatStaysDisturbedIsMeasuredThreeTimesAndSaysSo) {
  Machine machine({kQuiet, kQuiet, kQuiet, kQuiet, kQuiet, kSlowed});
  machine.group({1, 1, 1, 1, 1});
  const std::vector<MeasureResult> results = machine.group({1.0});
  EXPECT_EQ(machine.measurements, 8);
  EXPECT_TRUE(results.front().disturbed.value());
  EXPECT_EQ(results.front().timing->min, 2.0);
}

TEST(Disturbance, AMachineThatIsAlwaysBusyIsNotMeasuredForEver) {
  // Always preempted: soon nothing is repeated, and every time is marked disturbed.
  Machine preempted({kPreempted});
  for (int i = 0; i < 100; ++i) EXPECT_TRUE(preempted.group({1, 1, 1, 1, 1, 1, 1, 1})[0].disturbed.value());
  EXPECT_LT(preempted.measurements, 800 + 16);

  // Permanently slower from some moment on: that becomes usual.
  Machine slower({kQuiet, kQuiet, kQuiet, kQuiet, kQuiet, kQuiet, kQuiet, kQuiet, kSlowed});
  for (int i = 0; i < 100; ++i) slower.group({1, 1, 1, 1, 1, 1, 1, 1});
  EXPECT_LT(slower.measurements, 800 + 32);
  EXPECT_FALSE(slower.group({1.0})[0].disturbed.value());
}

TEST(Disturbance, AQuieterTimeAfterABusyOneIsFoundAgain) {
  DisturbanceDetector detector;
  for (int i = 0; i < 64; ++i) detector.disturbed(kSlowed);
  for (int i = 0; i < 24; ++i) EXPECT_FALSE(detector.disturbed(kQuiet));
  EXPECT_TRUE(detector.disturbed(kSlowed));
}

TEST(Disturbance, ASlightlySlowerClockIsNone) {
  DisturbanceDetector detector;
  for (int i = 0; i < 100; ++i) EXPECT_FALSE(detector.disturbed({i % 3 == 0 ? 23e-6 : 20e-6, 0.02}));
}

TEST(Disturbance, WhatIsSlowerThanTheBestByFarIsNotMeasuredAgain) {
  Machine machine({kQuiet, kQuiet, kQuiet, kSlowed});
  machine.group({1.0, 1.0, 1.0, 3.0, 7.0}, 1.0);
  EXPECT_EQ(machine.measurements, 7) << "the fourth, twice; a neighbour does not take six sevenths";
}

TEST(Disturbance, AStopEndsTheRepeating) {
  std::vector<MeasureResult> results{timed(1.0, true), timed(1.0, true)};
  int again = 0;
  repeat_disturbed(
      results, {}, 0.0,
      [&](size_t) {
        ++again;
        return timed(1.0, true);
      },
      [&] { return again < 1; });
  EXPECT_EQ(again, 1);
}

TEST(Disturbance, AFailureThatShowsLaterCountsUnlessTheMachineMayBeItsCause) {
  const auto repeated = [](FailureCause cause) {
    std::vector<MeasureResult> results{timed(1.0, true)};
    MeasureResult failed;
    failed.failure = CandidateFailure{cause, ""};
    repeat_disturbed(results, {}, 0.0, [&](size_t) { return failed; }, [] { return true; });
    return results.front();
  };
  EXPECT_TRUE(repeated(FailureCause::WrongResult).failure);
  EXPECT_TRUE(repeated(FailureCause::Crash).failure);
  EXPECT_TRUE(repeated(FailureCause::TimeOut).timing);
  EXPECT_TRUE(repeated(FailureCause::WorkerLost).timing);
}

/// Keeps the processors of this process busy.
class Load {
 public:
  Load() {
    for (unsigned i = 0; i < 3 * std::thread::hardware_concurrency(); ++i) {
      threads_.emplace_back([this] {
        while (!stop_) {
        }
      });
    }
  }
  ~Load() {
    stop_ = true;
    for (std::thread& thread : threads_) thread.join();
  }

 private:
  std::atomic<bool> stop_ = false;
  std::vector<std::thread> threads_;
};

/// Some milliseconds of work on the calling thread.
void work_for(std::chrono::milliseconds time) {
  const auto end = std::chrono::steady_clock::now() + time;
  while (std::chrono::steady_clock::now() < end) {
  }
}

// On the real machine, three other threads on each processor leave a thread a quarter of the time.
TEST(DisturbanceProbe, SeesThatAThreadHadToWait) {
  if (access("/proc/self/schedstat", R_OK) != 0) GTEST_SKIP() << "this system does not tell";
  const std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool(
      tunesmith_runtime_pool_create(1), tunesmith_runtime_pool_destroy);
  DisturbanceProbe probe(pool.get());
  const Load load;
  probe.begin();
  work_for(std::chrono::milliseconds(200));
  EXPECT_GT(probe.end().waited, 0.1);
}

TEST(DisturbanceProbe, CalibratesOnEveryThread) {
  const std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool(
      tunesmith_runtime_pool_create(2), tunesmith_runtime_pool_destroy);
  DisturbanceProbe probe(pool.get());
  probe.begin();
  const Reading reading = probe.end();
  EXPECT_GT(reading.calibration, 0.0);
  EXPECT_GE(reading.waited, 0.0);
}

TEST(WatchedRates, CountTheWaitsOfThreadsThatHaveEnded) {
  const WatchedRate rate = watched([] {
    const auto end = std::chrono::steady_clock::now() + std::chrono::milliseconds(400);
    std::vector<std::jthread> threads;
    for (unsigned i = 0; i < 6 * std::thread::hardware_concurrency(); ++i) {
      threads.emplace_back([end] {
        while (std::chrono::steady_clock::now() < end) {
        }
      });
    }
    return 1.0;
  });
  EXPECT_EQ(rate.per_second, 1.0);
  // The system may not report waiting times.
  EXPECT_TRUE(rate.disturbed.value_or(true));
}

}  // namespace
}  // namespace tunesmith
