#include "worker/timed_check.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <functional>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

namespace tunesmith {
namespace {

constexpr int64_t kCount = 1000;

/// The code of the kernel under test; one at a time.
std::function<void(const float* x, float* o)> g_kernel;

void run_kernel(void* const* buffers, void*, tunesmith_parallel_for, void*) {
  g_kernel(static_cast<const float*>(buffers[0]), static_cast<float*>(buffers[1]));
}

void add_one(const float* x, float* o) {
  for (int64_t i = 0; i < kCount; ++i) o[i] = x[i] + 1.0f;
}

/// O = X + 1 on two data sets, and the check of a timed kernel.
class TimedCheckTest : public testing::Test {
 protected:
  TimedCheckTest() {
    float number = 0.0f;
    for (ArgumentMemory* set : {&usual_, &other_}) {
      Tensor x = Tensor::zeros(kF32, {kCount});
      for (int64_t i = 0; i < kCount; ++i) x.set(i, number += 1.0f);
      set->write_inputs({&x, 1});
      const std::vector<void*> buffers = set->kernel_pointers({}, nullptr);
      add_one(static_cast<const float*>(buffers[0]), static_cast<float*>(buffers[1]));
    }
    timed_.take_inputs(usual_);
  }

  /// Checks a kernel like a worker, whose best sample took `best_seconds`.
  std::optional<CandidateFailure> check(std::function<void(const float*, float*)> kernel, int samples = 6,
                                        std::optional<double> best_seconds = {}) {
    g_kernel = std::move(kernel);
    const KernelCall call{&run_kernel, timed_.kernel_pointers({}, nullptr), nullptr, nullptr};
    TimedCheck check({timed_, usual_, other_}, call, [] {}, threads_);
    check.first_call();
    for (int taken = 0; taken < samples; ++taken) {
      if (taken == 3) check.look();
      call();
    }
    check.end(TimedCheck::Changes{{0}, best_seconds, 1});
    return check.failure();
  }

  std::string message(std::function<void(const float*, float*)> kernel) {
    const auto failure = check(std::move(kernel));
    return failure ? failure->message : "";
  }

  const ForeignThreads threads_;
  const std::vector<Argument> arguments_{{make_buffer("X", kF32, {kCount}), false},
                                         {make_buffer("O", kF32, {kCount}), true}};
  ArgumentMemory usual_{arguments_, Placement::Unaligned};
  ArgumentMemory other_{arguments_, Placement::AtEnd};
  ArgumentMemory timed_{arguments_, Placement::OnPage};
};

TEST_F(TimedCheckTest, AcceptsWhatComputesAnew) { EXPECT_EQ(message(add_one), ""); }

TEST_F(TimedCheckTest, RefusesWhatSkipsACallOfTheSamePointers) {
  const float* last = nullptr;
  EXPECT_EQ(message([&](const float* x, float* o) {
              if (std::exchange(last, x) != x) add_one(x, o);
            }),
            "O was not written by a timed call");
}

// Also without a look() between the samples.
TEST_F(TimedCheckTest, RefusesWhatComputesOnlyWhereContentsHaveChanged) {
  float last = 0.0f;
  const auto failure = check(
      [&](const float* x, float* o) {
        if (std::exchange(last, x[0]) != x[0]) add_one(x, o);
      },
      2);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->message, "O was not written by a timed call");
}

// The kernel compares some elements, and assumes that all others are unchanged, too.
TEST_F(TimedCheckTest, RefusesWhatSkipsWhatLooksDone) {
  EXPECT_EQ(message([](const float* x, float* o) {
              if (o[0] != x[0] + 1.0f || o[kCount - 1] != x[kCount - 1] + 1.0f) add_one(x, o);
            }),
            "O is not recomputed by each timed call");
  std::vector<float> inputs, result;
  EXPECT_EQ(message([&](const float* x, float* o) {
              if (inputs.empty() || inputs[0] != x[0] || inputs[kCount / 2] != x[kCount / 2]) {
                inputs.assign(x, x + kCount);
                add_one(x, o);
                result.assign(o, o + kCount);
              }
              std::copy(result.begin(), result.end(), o);
            }),
            "O is not recomputed by each timed call");
}

TEST_F(TimedCheckTest, RefusesWhatIsFastOnWhatItHasSeenAlone) {
  constexpr auto kWork = std::chrono::microseconds(20);
  std::vector<float> inputs, result(kCount);
  const auto keeps = [&](const float* x, float* o) {
    if (!std::equal(x, x + kCount, inputs.begin(), inputs.end())) {
      const auto begin = std::chrono::steady_clock::now();
      while (std::chrono::steady_clock::now() - begin < kWork) {
      }
      inputs.assign(x, x + kCount);
      add_one(x, result.data());
    }
    std::copy(result.begin(), result.end(), o);
  };
  const auto failure = check(keeps, 6, 1e-6);
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->cause, FailureCause::ImplausibleTime);
  EXPECT_EQ(failure->message.find("a call takes 1e-06 s, but "), 0u) << failure->message;
  // A kernel that always takes the same time passes, also on a busy machine.
  EXPECT_EQ(check(add_one, 6, 20e-6), std::nullopt);
}

/// Gaps between elements are neither changed nor computed.
TEST(TimedCheckOnStridesTest, ChangesElementsAlone) {
  const std::vector<Argument> arguments{{make_buffer("X", kF32, {2, 2}, kScopeGlobal, false, {3, 1}), false},
                                        {make_buffer("O", kF32, {2, 2}, kScopeGlobal, false, {3, 1}), true}};
  ArgumentMemory usual(arguments, Placement::Unaligned), other(arguments, Placement::AtEnd),
      timed(arguments, Placement::OnPage);
  g_kernel = [](const float* x, float* o) {
    for (const int i : {0, 1, 3, 4}) o[i] = x[i] + 1.0f;
  };
  double first = 0.0;
  for (ArgumentMemory* set : {&usual, &other}) {
    Tensor x = Tensor::zeros(kF32, {2, 2});
    for (int64_t i = 0; i < 4; ++i) x.set(i, first++);
    set->write_inputs({&x, 1});
    run_kernel(set->kernel_pointers({}, nullptr).data(), nullptr, nullptr, nullptr);
  }
  timed.take_inputs(usual);
  timed.poison_outputs(kPoisonNaN);
  const KernelCall call{&run_kernel, timed.kernel_pointers({}, nullptr), nullptr, nullptr};
  const ForeignThreads threads;
  TimedCheck check({timed, usual, other}, call, [] {}, threads);
  check.first_call();
  call();
  check.end(TimedCheck::Changes{{0}, std::nullopt, 1});
  EXPECT_EQ(check.failure(), std::nullopt);
}

TEST_F(TimedCheckTest, RefusesWhatKeepsAnInputFromWhicheverCallOn) {
  for (int from = 1; from <= 7; ++from) {
    int calls = 0;
    std::vector<float> kept;
    EXPECT_EQ(message([&](const float* x, float* o) {
                if (++calls == from) kept.assign(x, x + kCount);
                add_one(kept.empty() ? x : kept.data(), o);
              }),
              "O depends on former contents of the inputs")
        << from;
  }
}

TEST_F(TimedCheckTest, RefusesWhatStopsWritingAndWhatAdds) {
  int calls = 0;
  EXPECT_EQ(message([&](const float* x, float* o) {
              if (++calls < 4) add_one(x, o);
            }),
            "O was not written by a timed call");
  EXPECT_EQ(message([&](const float* x, float* o) {
              add_one(x, o);
              o[7] += static_cast<float>(++calls);
            }),
            "O differs from run to run");
}

TEST_F(TimedCheckTest, RefusesWhatWritesBehindItsOutputInALaterCall) {
  int calls = 0;
  const auto failure = check([&](const float* x, float* o) {
    add_one(x, o);
    if (++calls > 3) static_cast<volatile float*>(o)[kCount] = 1.0f;
  });
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->cause, FailureCause::OutOfBounds);
  EXPECT_EQ(failure->message, "wrote outside of O");
}

TEST_F(TimedCheckTest, RefusesWhatIsWrittenAfterACallHasReturned) {
  std::atomic<float*> written{nullptr};
  std::atomic<bool> stop = false;
  std::thread late([&] {
    while (!stop) {
      std::this_thread::sleep_for(std::chrono::microseconds(100));
      if (float* const o = written.load()) *static_cast<volatile float*>(o) = 1002.0f;
    }
  });
  // The written value is correct: 1 more than the first of the other inputs.
  EXPECT_EQ(message([&](const float* x, float* o) {
              add_one(x, o);
              written = x[0] == 1001.0f ? o : nullptr;
            }),
            "O is written after the call returned");
  stop = true;
  late.join();
}

TEST_F(TimedCheckTest, WaitsForWhatSleepsBeforeItWrites) {
  std::atomic<float*> written{nullptr};
  std::atomic<bool> stop = false;
  std::thread late([&] {
    while (!stop) {
      float* const o = written.exchange(nullptr);
      if (o == nullptr) {
        std::this_thread::sleep_for(std::chrono::microseconds(100));
        continue;
      }
      std::this_thread::sleep_for(std::chrono::milliseconds(40));
      *static_cast<volatile float*>(o) = 1002.0f;
    }
  });
  const auto failure = check([&](const float* x, float* o) {
    add_one(x, o);
    if (x[0] == 1001.0f) written = o;
  });
  stop = true;
  late.join();
  ASSERT_TRUE(failure);
  EXPECT_EQ(failure->cause, FailureCause::WrongResult);
  EXPECT_EQ(failure->message, "O is written after the call returned");
}

TEST_F(TimedCheckTest, PreparesAnewWheneverTheInputsHaveChanged) {
  g_kernel = add_one;
  const KernelCall call{&run_kernel, timed_.kernel_pointers({}, nullptr), nullptr, nullptr};
  std::vector<float> seen;
  TimedCheck check(
      {timed_, usual_, other_}, call, [&] { seen.push_back(*static_cast<const float*>(call.pointers[0])); },
      threads_);
  check.first_call();
  call();
  check.end(TimedCheck::Changes{{0}, std::nullopt, 1});
  EXPECT_EQ(seen, (std::vector<float>{1001.0f, 1.0f}));
  EXPECT_EQ(check.failure(), std::nullopt);
  EXPECT_EQ(*static_cast<const float*>(call.pointers[0]), 1.0f);  // unchanged for the next candidate
}

/// A kernel must not write gaps between elements.
TEST(ArgumentMemoryTest, LooksBetweenElements) {
  const std::vector<Argument> arguments{{make_buffer("X", kF32, {2, 2}, kScopeGlobal, false, {3, 1}), false},
                                        {make_buffer("O", kF32, {2, 2}, kScopeGlobal, false, {3, 1}), true}};
  ArgumentMemory one(arguments, Placement::AtEnd), other(arguments, Placement::Unaligned);
  Tensor x = Tensor::zeros(kF32, {2, 2});
  for (int64_t i = 0; i < 4; ++i) x.set(i, static_cast<double>(i));
  one.write_inputs({&x, 1});
  one.poison_outputs(kPoisonNaN);
  other.poison_outputs(kPoisonLarge);
  const std::vector<void*> buffers = one.kernel_pointers({}, nullptr);
  EXPECT_EQ(static_cast<const float*>(buffers[0])[3], 2.0f);
  for (ArgumentMemory* memory : {&one, &other}) {
    auto* const o = static_cast<float*>(memory->kernel_pointers({}, nullptr)[1]);
    for (const int i : {0, 1, 3, 4}) o[i] = 5.0f;
  }
  EXPECT_EQ(one.touched_around(), nullptr);
  EXPECT_EQ(one.differs_from(other), nullptr) << "what lies between is nobody's";
  one.take_outputs(other);
  EXPECT_EQ(one.touched_around(), nullptr);
  static_cast<float*>(buffers[1])[2] = 5.0f;
  ASSERT_NE(one.touched_around(), nullptr);
  EXPECT_EQ(one.touched_around()->buffer->name, "O");
  static_cast<float*>(buffers[1])[4] = 6.0f;
  EXPECT_NE(one.differs_from(other), nullptr);
}

}  // namespace
}  // namespace tunesmith
