#include "worker/time_kernel.h"

#include <algorithm>
#include <chrono>
#include <climits>
#include <memory>
#include <optional>
#include <thread>
#include <utility>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

/// The argument of the kernel below.
struct Counter {
  int calls = 0;
  std::chrono::microseconds takes{0};
  int cold = INT_MAX;  // later calls take no time
};

void count(void* const* buffers, void*, tunesmith_parallel_for, void*) {
  auto* counter = static_cast<Counter*>(buffers[0]);
  if (++counter->calls <= counter->cold && counter->takes.count() > 0)
    std::this_thread::sleep_for(counter->takes);
}

KernelCall call_of(Counter& counter) { return {&count, {&counter}, nullptr, nullptr}; }

std::vector<double> samples_of(Counter& counter, const SamplingOptions& options, double limit) {
  const KernelCall call = call_of(counter);
  return sample_kernel(call, options, limit, time_call(call));
}

/// Ten samples of short kernels.
constexpr SamplingOptions kTen{.max_repeats = 10, .min_total_seconds = 1e9};

TEST(TimeKernel, AShortKernelIsCalledSeveralTimesForASample) {
  Counter counter;
  // Repeats, because a disturbed first call looks longer.
  for (int attempt = 0; attempt < 20 && counter.calls <= 100; ++attempt) {
    counter = {};
    EXPECT_EQ(samples_of(counter, kTen, 0.0).size(), 10u);
  }
  EXPECT_GT(counter.calls, 100);
}

TEST(TimeKernel, AColdKernelIsNotTakenForASlowOne) {
  size_t samples = 0;
  // Repeats, because a disturbed call looks slow.
  for (int attempt = 0; attempt < 20 && samples < 10; ++attempt) {
    Counter counter{0, std::chrono::milliseconds(2), 2};
    samples = samples_of(counter, kTen, 1e-3).size();
  }
  EXPECT_EQ(samples, 10u);
}

/// The disturbed call ends the warming ones, and its time said how many calls a sample takes.
TEST(TimeKernel, ADisturbedWarmingCallDoesNotShortenSamples) {
  using Clock = std::chrono::steady_clock;
  struct Disturbed {
    std::optional<Clock::time_point> begin;
    int after = -1;  // calls after the disturbed one; -1: before it
  };
  const auto disturbed_once = [](void* const* buffers, void*, tunesmith_parallel_for, void*) {
    auto* state = static_cast<Disturbed*>(buffers[0]);
    if (!state->begin) state->begin = Clock::now();
    const bool now = state->after < 0 && Clock::now() - *state->begin > std::chrono::microseconds(300);
    if (now) std::this_thread::sleep_for(std::chrono::milliseconds(1));
    state->after += now || state->after >= 0 ? 1 : 0;
  };
  int calls = 0;
  // Repeats, because another disturbance may end the warming calls before this one.
  for (int attempt = 0; attempt < 20 && calls <= 100; ++attempt) {
    Disturbed state;
    sample_kernel({disturbed_once, {&state}}, kTen, 0.0, 0.0);
    calls = state.after;
  }
  EXPECT_GT(calls, 100);
}

TEST(TimeKernel, AMillisecondIsOneCall) {
  Counter counter{0, std::chrono::milliseconds(1)};
  const std::vector<double> samples = samples_of(counter, kTen, 0.0);
  EXPECT_EQ(samples.size(), 10u);
  EXPECT_EQ(counter.calls, 12);  // the first and the warming call are not samples
  EXPECT_GE(samples.front(), 1e-3);
}

TEST(TimeKernel, WhatIsSlowerThanTheBestByFarIsNotRepeated) {
  Counter counter{0, std::chrono::milliseconds(1)};
  EXPECT_EQ(samples_of(counter, kTen, 0.5e-3).size(), 1u);
  EXPECT_EQ(samples_of(counter, kTen, 100.0).size(), 10u);
}

// Up to its first sample a kernel of 0.2 ms is called at most five times.
TEST(TimeKernel, ADisturbedSampleDoesNotEndTheRace) {
  size_t samples = 0;
  // Repeats, because a busy machine disturbs the second look, too.
  for (int attempt = 0; attempt < 20 && samples < 10; ++attempt) {
    Counter counter{0, std::chrono::microseconds(200), 6};
    const std::vector<double> taken = samples_of(counter, kTen, 50e-6);
    EXPECT_GT(taken.front(), 150e-6);
    samples = taken.size();
  }
  EXPECT_EQ(samples, 10u);
}

TEST(TimeKernel, AShortKernelIsSlowByTwoSamplesThatAgree) {
  size_t samples = 0;
  // Repeats, because samples on a busy machine do not agree.
  for (int attempt = 0; attempt < 20 && samples != 2; ++attempt) {
    Counter counter{0, std::chrono::microseconds(500)};
    samples = samples_of(counter, kTen, 100e-6).size();
    EXPECT_LE(samples, 3u);
  }
  EXPECT_EQ(samples, 2u);
}

// The threads sleep before, and without being woken they begin when the caller has done their work.
TEST(TimeKernel, AllThreadsRunWhenAKernelSettles) {
  const std::unique_ptr<tunesmith_runtime_pool, void (*)(tunesmith_runtime_pool*)> pool(
      tunesmith_runtime_pool_create(2), tunesmith_runtime_pool_destroy);
  struct Chunks {
    std::thread::id ran[2];
    bool first = true;
    bool apart = false;  // in the first call
  };
  const auto note = [](void* const* buffers, void*, tunesmith_parallel_for parallel_for, void* threads) {
    auto* chunks = static_cast<Chunks*>(buffers[0]);
    const auto body = [](void* closure, int64_t begin, int64_t) {
      static_cast<Chunks*>(closure)->ran[begin] = std::this_thread::get_id();
      const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(2);
      while (std::chrono::steady_clock::now() < end) {
      }
    };
    parallel_for(threads, 2, body, chunks);
    if (std::exchange(chunks->first, false)) chunks->apart = chunks->ran[0] != chunks->ran[1];
  };
  int apart = 0;
  // Repeats, because on a busy machine a thread may have no processor. Without being woken, one in 200 is
  // apart.
  for (int attempt = 0; attempt < 100 && apart < 3; ++attempt) {
    std::this_thread::sleep_for(std::chrono::milliseconds(5));
    Chunks chunks;
    sample_kernel({note, {&chunks}, nullptr, pool.get()}, kTen, 0.0, 1e-6);
    apart += chunks.apart ? 1 : 0;
  }
  EXPECT_EQ(apart, 3);
}

TEST(TimeKernel, WhatIsNotAmongTheBestHasTheFewestSamples) {
  Counter counter{0, std::chrono::milliseconds(1)};
  EXPECT_EQ(samples_of(counter, {.min_total_seconds = 1e9, .racing_factor = 1e9}, 0.5e-3).size(), 3u);
}

TEST(TimeKernel, SamplesAddUpToTenMillisecondsOrThereAreTen) {
  Counter counter{0, std::chrono::milliseconds(4)};
  EXPECT_EQ(samples_of(counter, {}, 0.0).size(), 3u);
}

TEST(TimeKernel, BetweenSamplesItIsAskedHowManyThereAre) {
  Counter counter{0, std::chrono::milliseconds(1)};
  std::vector<int> asked;
  sample_kernel(call_of(counter), {.max_repeats = 4, .min_total_seconds = 1e9}, 0.0, 1e-3,
                [&](int taken) { asked.push_back(taken); });
  EXPECT_EQ(asked, (std::vector<int>{1, 2, 3}));
}

TEST(TimeKernel, RoundsAreCallsInTurn) {
  Counter one{0, std::chrono::milliseconds(5)};
  Counter other{0, std::chrono::milliseconds(5)};
  std::vector<InterleavedKernel> kernels{{call_of(one), 5e-3}, {call_of(other), 5e-3}};
  const auto first = time_rounds(kernels, 2);
  const auto second = time_rounds(kernels, 3);
  EXPECT_EQ(first[0].size() + second[0].size(), 5u);
  EXPECT_EQ(one.calls, 5);
  EXPECT_EQ(other.calls, 5);
}

// The call before a sample runs in another kernel's caches, which here makes it slower.
TEST(TimeKernel, AShortKernelIsTimedInCachesOfItsOwn) {
  struct Owned {
    int* owner;
    int self;
  };
  const auto slow_after_another = [](void* const* buffers, void*, tunesmith_parallel_for, void*) {
    const auto* owned = static_cast<const Owned*>(buffers[0]);
    std::this_thread::sleep_for(std::chrono::milliseconds(*owned->owner == owned->self ? 1 : 30));
    *owned->owner = owned->self;
  };
  int owner = 0;
  Owned one{&owner, 1}, other{&owner, 2};
  std::vector<InterleavedKernel> kernels{{{slow_after_another, {&one}}, 1e-3},
                                         {{slow_after_another, {&other}}, 1e-3}};
  for (const std::vector<double>& samples : time_rounds(kernels, 5))
    EXPECT_LT(*std::ranges::min_element(samples), 20e-3);
}

// Half a millisecond has several calls of 60 us, fewer on a busy machine.
TEST(TimeKernel, AShortKernelIsCalledForAWhileBeforeASample) {
  constexpr int kRounds = 20;
  const auto spin = [](void* const* buffers, void*, tunesmith_parallel_for, void*) {
    ++*static_cast<int*>(buffers[0]);
    const auto end = std::chrono::steady_clock::now() + std::chrono::microseconds(60);
    while (std::chrono::steady_clock::now() < end) {
    }
  };
  int calls = 0;
  std::vector<InterleavedKernel> kernels{{{spin, {&calls}}, 60e-6}};
  time_rounds(kernels, kRounds);
  EXPECT_GT(calls, 4 * kRounds) << "one is the sample";
}

// Once, a call of a second or more was made only once, and its time copied into every round.
TEST(TimeKernel, ALongCallIsASampleOnce) {
  Counter counter{0, std::chrono::milliseconds(1)};
  std::vector<InterleavedKernel> kernels{{call_of(counter), 7.0}};
  EXPECT_EQ(time_rounds(kernels, 1).front(), std::vector<double>{7.0});
  EXPECT_EQ(counter.calls, 0);
  const std::vector<double> after = time_rounds(kernels, 3).front();
  EXPECT_EQ(std::count(after.begin(), after.end(), 7.0), 0);
  EXPECT_EQ(counter.calls, 3);
}

}  // namespace
}  // namespace tunesmith
