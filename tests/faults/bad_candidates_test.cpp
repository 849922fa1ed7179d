// Candidates that are wrong on purpose, run in the worker like a tuner's: each is counted under its cause,
// and the next correct one succeeds.
#include <atomic>
#include <chrono>
#include <filesystem>
#include <fstream>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/measuring/machine_lock.h>
#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/support/error.h>
#include <tunesmith/target/benchmarking.h>

#include "plugins/mistakes.h"
#include "temporary_folder.h"

namespace tunesmith {
namespace {

using test::kMistakes;
using test::Mistake;

constexpr const char* kAddOne = R"(name: add_one
params: {n: 1000}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = X[i] + 1
outputs: [O]
)";

class BadCandidates : public testing::Test {
 protected:
  BadCandidates()
      : registry_({.command_line = {{TEST_PLUGINS}}, .defaults = false}),
        target_(registry_.create<Target>(
            "faulty", Options::defaults(registry_.option_specs(PluginKind::Target, "faulty"), "faulty"))),
        workload_(WorkloadDefinition::parse(kAddOne, "add_one.yaml").instantiate()) {
    options_.threads = 2;
    options_.time_out_seconds = 3.0;
    options_.memory_limit_bytes = int64_t{256} << 20;
  }

  std::unique_ptr<Runner> runner() {
    return make_worker_runner(workload_, *target_, {"faulty", {}, {TEST_PLUGINS}}, options_);
  }

  CompiledKernel kernel(Mistake mistake) const {
    CompiledKernel made{fmt::format("{} 1000", static_cast<size_t>(mistake)), "kernel",
                        mistake == Mistake::HugeWorkspace ? int64_t{1} << 40 : 64, 0.0};
    if (test::has_preparation(mistake))
      made.prepare = PrepareStep{"prepare", test::kPreparedNumbers * int64_t{sizeof(float)}, {}, {}};
    return made;
  }

  /// The failures' causes, "" for a success.
  static std::vector<std::string> causes(Runner& runner, const std::vector<CompiledKernel>& kernels) {
    std::vector<MeasureRequest> requests;
    for (const CompiledKernel& one : kernels) requests.push_back({&one, 0.0});
    std::vector<std::string> names;
    for (const MeasureResult& result : runner.run(requests)) {
      EXPECT_EQ(result.timing.has_value(), !result.failure.has_value());
      names.emplace_back(result.failure ? failure_cause_name(result.failure->cause) : "");
    }
    return names;
  }

  PluginRegistry registry_;
  std::shared_ptr<Target> target_;
  Workload workload_;
  MeasureOptions options_;
};

class EachMistake : public BadCandidates, public testing::WithParamInterface<size_t> {};

TEST_P(EachMistake, HasItsCauseAndTheRunGoesOn) {
  const auto mistake = static_cast<Mistake>(GetParam());
  const std::unique_ptr<Runner> all = runner();
  const CompiledKernel good = kernel(Mistake::None);
  EXPECT_EQ(causes(*all, {good, kernel(mistake), good}),
            (std::vector<std::string>{"", std::string(kMistakes[GetParam()].cause), ""}));
}

INSTANTIATE_TEST_SUITE_P(All, EachMistake, testing::Range(size_t{0}, kMistakes.size() - 1),
                         [](const auto& one) { return std::string(kMistakes[one.param].name); });

/// --locked also holds in the worker, which loads the target itself.
TEST_F(BadCandidates, TheWorkerLoadsNothingThatTheLockFileDoesNotList) {
  const test::TemporaryFolder folder;
  const std::string lock = (folder / "plugins.lock").string();
  const CompiledKernel good = kernel(Mistake::None);
  const auto first = [&] {
    return make_worker_runner(workload_, *target_, {"faulty", {}, {TEST_PLUGINS}, lock}, options_)
        ->run(std::vector<MeasureRequest>{{&good, 0.0}})
        .front();
  };
  registry_.write_lock(lock);
  EXPECT_FALSE(first().failure);
  std::ofstream(lock) << R"({"lock_version": 1, "plugins": []})";
  try {
    first();
    ADD_FAILURE() << "the worker has loaded a target that is not locked";
  } catch (const EnvironmentError& error) {
    EXPECT_THAT(error.what(), testing::HasSubstr("[P15] the lock file does not list it"));
  }
}

TEST_F(BadCandidates, WhatOneBreaksIsNotBlamedOnTheNext) {
  const std::unique_ptr<Runner> all = runner();
  CompiledKernel large = kernel(Mistake::None);
  large.workspace_bytes = int64_t{100} << 20;
  EXPECT_EQ(causes(*all, {kernel(Mistake::LeaksMemory), large, kernel(Mistake::BreaksTheNext), large}),
            (std::vector<std::string>{"", "", "", ""}));
}

TEST_F(BadCandidates, WhatOneSpoilsIsNotBlamedOnThoseAfterIt) {
  const std::unique_ptr<Runner> all = runner();
  const CompiledKernel good = kernel(Mistake::None);
  EXPECT_EQ(causes(*all, {kernel(Mistake::SpoilsTheNext), good, good, kernel(Mistake::WrongResult), good}),
            (std::vector<std::string>{"", "", "", "wrong_result", ""}));
}

TEST_F(BadCandidates, PreparingIsTimedApart) {
  const std::unique_ptr<Runner> all = runner();
  const CompiledKernel plain = kernel(Mistake::None);
  const CompiledKernel prepares = kernel(Mistake::Prepares);
  const std::vector<MeasureRequest> requests{{&plain, 0.0}, {&prepares, 0.0}};
  const std::vector<MeasureResult> results = all->run(requests);
  ASSERT_TRUE(results[0].timing && results[1].timing);
  EXPECT_EQ(results[0].timing->prepare, 0.0);
  EXPECT_GT(results[1].timing->prepare, 0.0);
  // Each kernel of an interleaved measurement has prepared memory of its own.
  const std::vector<const CompiledKernel*> kernels{&prepares, &plain, &prepares};
  for (const InterleavedTimes& times : all->interleave(kernels, {.rounds = 3}))
    EXPECT_EQ(times.samples.size(), 3u);
}

TEST_F(BadCandidates, WhatACandidatePrintsIsNotOnStandardOutput) {
  const std::unique_ptr<Runner> all = runner();
  testing::internal::CaptureStdout();
  testing::internal::CaptureStderr();
  const std::vector<std::string> result = causes(*all, {kernel(Mistake::Prints)});
  EXPECT_EQ(testing::internal::GetCapturedStdout(), "");
  EXPECT_NE(testing::internal::GetCapturedStderr().find("a candidate prints"), std::string::npos);
  EXPECT_EQ(result, std::vector<std::string>{""});
}

TEST_F(BadCandidates, TheMessageSaysWhatWasSeen) {
  const std::unique_ptr<Runner> all = runner();
  const auto message = [&](Mistake mistake) {
    const CompiledKernel one = kernel(mistake);
    const MeasureRequest request{&one, 0.0};
    return all->run({&request, 1}).front().failure.value().message;
  };
  EXPECT_NE(message(Mistake::WrongResult).find("O[500] is "), std::string::npos);
  // Any of the calls may show it first.
  EXPECT_THAT(
      message(Mistake::VariesFromRunToRun),
      testing::AnyOf("O differs from run to run", testing::HasSubstr("called by two threads at once")));
  EXPECT_EQ(message(Mistake::KeepsAnInputAfterFourCalls), "O depends on former contents of the inputs");
  EXPECT_EQ(message(Mistake::WritesAgainLate), "O is written after the call returned");
  EXPECT_EQ(message(Mistake::SkipsWhatIsDone), "O is not recomputed by each timed call");
  EXPECT_THAT(message(Mistake::KeepsResultsByContents),
              testing::HasSubstr(" s when its inputs have changed"));
  EXPECT_EQ(message(Mistake::BlocksSignals), "blocks signal 15 (Terminated)");
  EXPECT_EQ(message(Mistake::HandlesFaults), "changed the handler of signal 11 (Segmentation fault)");
  EXPECT_EQ(message(Mistake::WritesBefore), "wrote outside of O");
  EXPECT_EQ(message(Mistake::WritesBeforeWorkspace), "wrote outside of the workspace");
  EXPECT_EQ(message(Mistake::ThrowsInLoad), "target 'faulty': [P12] load threw: boom in load");
  EXPECT_EQ(message(Mistake::ThrowsInEntry), "target 'faulty': [P12] entry threw: boom in a loaded kernel");
  EXPECT_EQ(message(Mistake::ModelsNoTime), "target 'faulty': modelled_seconds of a kernel is nan");
  EXPECT_THAT(message(Mistake::WritesToTheSocket),
              testing::HasSubstr("invalid answer from the worker: its header has"));
  EXPECT_EQ(message(Mistake::Endless), "not finished in 3 s");
}

// A resumed run tries again what is known to be the machine's fault.
TEST_F(BadCandidates, ATimeOutOnABusyMachineSaysSo) {
  std::atomic<bool> stop = false;
  std::vector<std::jthread> load;
  for (unsigned i = 0; i < 4 * std::thread::hardware_concurrency(); ++i) {
    load.emplace_back([&] {
      while (!stop.load()) {
      }
    });
  }
  const CompiledKernel endless = kernel(Mistake::Endless);
  const MeasureRequest request{&endless, 0.0};
  const MeasureResult result = runner()->run({&request, 1}).front();
  stop = true;
  EXPECT_EQ(result.failure.value().cause, FailureCause::TimeOut);
  EXPECT_EQ(result.disturbed, std::optional(true));
}

TEST_F(BadCandidates, AnInterleavedMeasurementSurvivesACrash) {
  const std::unique_ptr<Runner> all = runner();
  const CompiledKernel good = kernel(Mistake::None);
  const CompiledKernel bad = kernel(Mistake::Segfaults);
  const std::vector<const CompiledKernel*> all_three{&good, &bad, &good};
  const std::vector<InterleavedTimes> times = all->interleave(all_three, {.rounds = 3});
  EXPECT_EQ(times[0].samples.size(), 3u);
  EXPECT_EQ(times[2].samples.size(), 3u);
  EXPECT_TRUE(times[1].samples.empty());
  ASSERT_TRUE(times[1].failure);
  EXPECT_EQ(times[1].failure->cause, FailureCause::Crash);
}

// A program without a parallel loop is verified on threads of the pool, which exceptions must not leave.
TEST_F(BadCandidates, ALoadedKernelThatThrowsCostsItselfWhereverItIsCalled) {
  const std::unique_ptr<Runner> all = runner();
  const CompiledKernel good = kernel(Mistake::None);
  const CompiledKernel bad = kernel(Mistake::ThrowsInEntry);
  const MeasureRequest serial{&bad, 0.0, false};
  EXPECT_EQ(all->run({&serial, 1}).front().failure.value().cause, FailureCause::PluginError);
  const std::vector<const CompiledKernel*> all_three{&good, &bad, &good};
  const std::vector<InterleavedTimes> times = all->interleave(all_three, {.rounds = 3});
  EXPECT_EQ(times[0].samples.size(), 3u) << (times[0].failure ? times[0].failure->message : "");
  EXPECT_EQ(times[1].failure.value().cause, FailureCause::PluginError);
  EXPECT_EQ(times[2].samples.size(), 3u);
}

// Programs for a device have no parallel loop, but may not run concurrently.
TEST_F(BadCandidates, AKernelOfADeviceIsCalledByOneThreadAtATime) {
  RawOption device;
  device.name = "device";
  device.values = {{"true", {}}};
  const std::unique_ptr<Runner> all =
      make_worker_runner(workload_, *target_, {"faulty", {device}, {TEST_PLUGINS}}, options_);
  const CompiledKernel good = kernel(Mistake::None);
  const MeasureRequest serial{&good, 0.0, false};
  const MeasureResult result = all->run({&serial, 1}).front();
  EXPECT_TRUE(result.timing) << (result.failure ? result.failure->message : "");
}

// Each kernel is compared before the first round and after the last, on other contents of the same buffers.
TEST_F(BadCandidates, WhatIsWrongInAnInterleavedMeasurementHasNoTime) {
  const std::unique_ptr<Runner> all = runner();
  std::vector<CompiledKernel> kernels;
  for (const Mistake mistake : {Mistake::None, Mistake::WrongResult, Mistake::KeepsAnInputByAddress,
                                Mistake::WritesBeyondLater, Mistake::RoundsUp, Mistake::Prepares})
    kernels.push_back(kernel(mistake));
  kernels.push_back(target_->benchmarking()->peak_kernel(kF32, 2).kernel);
  std::vector<const CompiledKernel*> pointers;
  for (const CompiledKernel& one : kernels) pointers.push_back(&one);
  std::vector<std::string> causes;
  for (const InterleavedTimes& times :
       all->interleave(pointers, {.rounds = 3, .yardstick = &kernels.back()})) {
    EXPECT_EQ(times.samples.size(), times.failure ? 0u : 3u);
    causes.emplace_back(times.failure ? failure_cause_name(times.failure->cause) : "");
  }
  EXPECT_EQ(causes, (std::vector<std::string>{"", "wrong_result", "wrong_result", "out_of_bounds",
                                              "process_state", "", ""}));
}

TEST_F(BadCandidates, AStopEndsTheCandidateUnderWayWithinTwoSeconds) {
  std::atomic<bool> stop = false;
  options_.stop = &stop;
  options_.time_out_seconds = 60.0;
  const std::unique_ptr<Runner> all = runner();
  const auto begin = std::chrono::steady_clock::now();
  std::thread person([&] {
    std::this_thread::sleep_for(std::chrono::milliseconds(300));
    stop = true;
  });
  const CompiledKernel good = kernel(Mistake::None);
  EXPECT_EQ(causes(*all, {kernel(Mistake::Endless), good}),
            (std::vector<std::string>{"worker_lost", "worker_lost"}));
  person.join();
  EXPECT_LT(std::chrono::steady_clock::now() - begin, std::chrono::seconds(2));
}

TEST_F(BadCandidates, ARunnerWaitsForItsTurnAndAStopEndsTheWaiting) {
  const test::TemporaryFolder folder;
  std::atomic<bool> stop = false;
  std::vector<std::string> said;
  options_.stop = &stop;
  options_.machine = std::make_shared<MachineLock>(folder / "machine.lock",
                                                   [&](const std::string& line) { said.push_back(line); });
  const std::unique_ptr<Runner> all = runner();
  const CompiledKernel good = kernel(Mistake::None);
  EXPECT_EQ(causes(*all, {good}), std::vector<std::string>{""});
  EXPECT_TRUE(said.empty());
  {
    MachineLock other(folder / "machine.lock");
    const MachineLock::Turn turn = other.wait(MachineLock::Use::Measure);
    ASSERT_TRUE(turn);
    std::thread person([&] {
      std::this_thread::sleep_for(std::chrono::milliseconds(200));
      stop = true;
    });
    EXPECT_EQ(causes(*all, {good}), std::vector<std::string>{"worker_lost"});
    person.join();
  }
  EXPECT_EQ(said.size(), 1u);
  stop = false;
  EXPECT_EQ(causes(*all, {good}), std::vector<std::string>{""});
  EXPECT_EQ(said.size(), 1u);
}

}  // namespace
}  // namespace tunesmith
