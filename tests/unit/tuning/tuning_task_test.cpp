// One task advanced step by step: its history, resumption, and result.
#include <algorithm>
#include <chrono>
#include <set>
#include <thread>
#include <utility>

#include "extended.h"
#include "history.h"
#include "tunesmith/tuning/rank_recorded.h"
#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

/// Fails on request, like a worker that was killed.
class LosingRunner final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results = good.run(requests);
    for (MeasureResult& result : results) {
      if (left-- <= 0) continue;
      result = {};
      result.failure = CandidateFailure{FailureCause::WorkerLost, "lost"};
    }
    return results;
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return good.interleave(kernels, options);
  }

  ReplayingRunner good;
  int left = 0;
};

std::set<uint64_t> programs_of(const std::vector<Record>& records) {
  std::set<uint64_t> programs;
  for (const Record& record : records) programs.insert(record.lowered_hash);
  return programs;
}

/// Times of a search mislead: what takes longest is the fastest once it is timed in turn.
class MisledRunner final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results = good.run(requests);
    for (MeasureResult& result : results) result.timing = make_timing({result.timing->min * kShorter});
    return results;
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times = good.interleave(kernels, options);
    for (InterleavedTimes& one : times) {
      for (double& seconds : one.samples) seconds = 1e-6 * kShorter / seconds;
    }
    return times;
  }

  ReplayingRunner good;

 private:
  static constexpr double kShorter = 1e-4;  // so that a ranking has time for all
};

TEST_F(TunerTest, WhatAKilledRunDidNotRankIsRankedOnce) {
  MisledRunner runner;
  std::atomic<bool> stop = false;
  TuneHooks hooks;
  hooks.stop = &stop;
  int recorded = 0;
  hooks.recorded = [&](const Record&) { stop = ++recorded >= 6; };
  const TuneResult killed = tune_into("r.db", runner, hooks);
  ASSERT_EQ(runner.good.rankings, 0);
  const Workload workload = this->workload();
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(space_), registry_, target_);
  RecordStore store(folder_ / "r.db");
  const auto best = [&] {
    return store.best({task_key(workload, space, options_.measure_threads), environment_.machine(), {}}, 64);
  };
  constexpr size_t kFew = 6;
  ASSERT_GT(best().size(), kFew);
  const uint64_t slowest = best()[kFew - 1].lowered_hash;  // of those that are ranked
  ASSERT_NE(slowest, store.find(killed.best_id)->lowered_hash);
  const auto rank = [&] {
    return rank_recorded(workload, space, store, runner, environment_, options_).programs;
  };
  EXPECT_EQ(rank(), kFew);
  EXPECT_EQ(best().front().lowered_hash, slowest);
  EXPECT_EQ(best().front().kind, MeasurementKind::Ranking);
  const int rankings = runner.good.rankings;
  EXPECT_EQ(rank(), 0u);
  EXPECT_EQ(runner.good.rankings, rankings);
}

class KilledRun : public TunerTest {
 protected:
  void expect_the_same_way(const std::vector<int>& cuts) {
    ReplayingRunner runner(5);
    tune_into("whole.db", runner);
    for (const int cut : cuts) {
      const std::string name = "cut" + std::to_string(cut) + ".db";
      std::atomic<bool> stop = false;
      TuneHooks hooks;
      hooks.stop = &stop;
      int reported = 0;
      hooks.recorded = [&](const Record&) { stop = ++reported >= cut; };
      EXPECT_TRUE(tune_into(name, runner, hooks).interrupted);
      const auto done = static_cast<int64_t>(records(name).size());
      EXPECT_LT(done, options_.trials);
      const TuneResult resumed = tune_into(name, runner);
      EXPECT_EQ(resumed.resumed, done);
      EXPECT_EQ(resumed.trials, options_.trials);
      const std::vector<std::string> taken_up = story(name);
      const std::vector<std::string> whole = story("whole.db");
      ASSERT_EQ(taken_up.size(), whole.size());
      const auto other = std::ranges::mismatch(taken_up, whole).in1;
      EXPECT_EQ(other, taken_up.end())
          << "cut after " << cut << ", other from program " << other - taken_up.begin();
    }
  }
};

class KilledRunOf : public KilledRun, public testing::WithParamInterface<const char*> {};

// Interrupted in the middle of a round, or between two.
TEST_P(KilledRunOf, GoesTheWayThatItWouldHaveGone) {
  space_ = GetParam();
  expect_the_same_way(test::usual_or_extended<std::vector<int>>({6, 8}, {1, 6, 8, 10, 16}));
}

// A turn of the portfolio has 32 trials: a batch is proposed in two parts.
TEST_F(KilledRun, GoesTheWayThatItWouldHaveGoneAlsoWhereABatchIsProposedInParts) {
  space_ = "cpu";
  searcher_ = "portfolio";
  options_.trials = 56;
  options_.batch = 48;
  expect_the_same_way(test::usual_or_extended<std::vector<int>>({40}, {20, 40, 48}));
}

TEST_F(KilledRun, GoesTheWayThatItWouldHaveGoneWithFirstPrograms) {
  space_ = "cpu";
  options_.first_draws = 32;
  expect_the_same_way(test::usual_or_extended<std::vector<int>>({4}, {1, 3, 4, 6, 8, 12}));
}

INSTANTIATE_TEST_SUITE_P(Spaces, KilledRunOf, testing::Values("cpu", "cpu-random"), [](const auto& one) {
  return std::string(one.param) == "cpu" ? "evolutionary" : "random";
});

TEST_F(TunerTest, StepsByHandAreTheRun) {
  ReplayingRunner runner(5);
  tune_into("at_once.db", runner);
  const Workload tuned = workload();
  const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  const Space space(spaces.space(space_), registry_, target_);
  RecordStore store(folder_ / "steps.db");
  TuningTask task(tuned, space, store, runner, environment_, options_);
  int64_t steps = 0;
  while (!task.done()) {
    const int64_t before = task.trials();
    EXPECT_EQ(task.step(1000), 8) << "a step ends with the round";
    EXPECT_EQ(task.trials(), before + 8);
    ++steps;
  }
  EXPECT_EQ(steps, 3);
  EXPECT_EQ(task.step(1), 0);
  EXPECT_EQ(task.finish().trials, 24);
  EXPECT_EQ(story("steps.db"), story("at_once.db"));
}

TEST_F(TunerTest, TheHistoryIsAllThatIsOnRecordOfTheTask) {
  ReplayingRunner runner(5);
  tune_into("r.db", runner);
  // Another seed, another space, another searcher: nothing is measured twice, and nothing counts as done.
  options_.seed = 8;
  const TuneResult other_seed = tune_into("r.db", runner);
  EXPECT_EQ(other_seed.known, 24);
  EXPECT_EQ(other_seed.resumed, 0);
  EXPECT_EQ(other_seed.trials, 24);
  space_ = "cpu";
  const TuneResult other_space = tune_into("r.db", runner);
  EXPECT_EQ(other_space.known, 48);
  EXPECT_GT(other_space.trials, 0);  // where vectors are short, this space has fewer programs than the budget
  const std::vector<Record> all = records("r.db");
  EXPECT_EQ(static_cast<int64_t>(all.size()), 48 + other_space.trials);
  EXPECT_EQ(programs_of(all).size(), all.size());
  EXPECT_EQ(runner.runs, 48 + other_space.trials);
}

TEST_F(TunerTest, OtherThreadsOrMachinesAreOtherTasks) {
  ReplayingRunner runner;
  options_.trials = 16;
  options_.measure_threads = 1;
  const TuneResult one = tune_into("r.db", runner);
  options_.measure_threads = 2;
  const TuneResult two = tune_into("r.db", runner);
  EXPECT_EQ(two.resumed, 0);
  EXPECT_EQ(two.known, 0);
  EXPECT_EQ(runner.runs, 32);
  EXPECT_NE(one.best_id, two.best_id);
  environment_.cpu_model = "Other";
  EXPECT_EQ(tune_into("r.db", runner).known, 0);
  options_.resume = false;
  EXPECT_EQ(tune_into("r.db", runner).known, 0);
  EXPECT_EQ(runner.runs, 64);
}

constexpr const char* kLayer = R"(name: layer1
params: {n: 32}
inputs:
  X: {shape: [n, n], dtype: f32}
  W: {shape: [n, n], dtype: f32}
compute: |
  Y[i<n, j<n] = sum(k<n) X[i, k] * W[k, j]
  Z[i<n, j<n] = max(Y[i, j], 0)
outputs: [Z]
)";
constexpr const char* kOtherLayer = R"(name: layer2
params: {size: 32}
inputs:
  input: {shape: [size, size], dtype: f32}
  weights: {shape: [size, size], dtype: f32}
compute: |
  product[row<size, column<size] = sum(c<size) input[row, c] * weights[c, column]
  active[row<size, column<size] = max(product[row, column], 0)
outputs: [active]
)";

TEST_F(TunerTest, EqualLayersAreOneTask) {
  ReplayingRunner runner;
  space_ = "cpu";
  options_.trials = 32;
  definition_ = kLayer;
  const TuneResult first = tune_into("r.db", runner);
  definition_ = kOtherLayer;
  const TuneResult second = tune_into("r.db", runner);
  EXPECT_EQ(runner.runs, 32) << "the second layer is measured not at all";
  EXPECT_EQ(second.resumed, 32);
  EXPECT_EQ(second.lost, 0);
  EXPECT_EQ(second.best_seconds, first.best_seconds);
  // The trace has the layer's own names, so that it can be replayed and the search continue.
  EXPECT_TRUE(replay(workload().program, second.best_trace).has_value());
  options_.trials = 48;
  EXPECT_EQ(tune_into("r.db", runner).trials, 48);
  EXPECT_EQ(runner.runs, 48);
  definition_ = kLayer;
  EXPECT_EQ(tune_into("r.db", runner).lost, 0) << "records are in the names of the first layer";
  EXPECT_EQ(runner.runs, 48);
}

TEST_F(TunerTest, EqualLayersOfMergedStoresKeepTheirNames) {
  ReplayingRunner runner;
  space_ = "cpu";
  options_.trials = 32;
  definition_ = kOtherLayer;
  const TuneResult other = tune_into("other.db", runner);
  definition_ = kLayer;
  options_.trials = 4;
  tune_into("r.db", runner);
  EXPECT_TRUE(RecordStore(folder_ / "r.db").merge(folder_ / "other.db").refused.empty());
  options_.trials = 32;
  const int before = runner.runs;
  for (const char* definition : {kLayer, kOtherLayer}) {
    definition_ = definition;
    const TuneResult merged = tune_into("r.db", runner);
    EXPECT_EQ(merged.lost, 0);
    EXPECT_EQ(merged.best_seconds, other.best_seconds);
    EXPECT_TRUE(replay(workload().program, merged.best_trace).has_value());
  }
  EXPECT_EQ(runner.runs, before) << "what the other store has is not measured again";
}

TEST_F(TunerTest, WhatMayHavePassedIsTriedAgain) {
  LosingRunner runner;
  runner.left = 5;
  const TuneResult first = tune_into("r.db", runner);
  EXPECT_EQ(first.failures.at(FailureCause::WorkerLost), 5);
  const TuneResult again = tune_into("r.db", runner);
  EXPECT_EQ(again.failures.count(FailureCause::WorkerLost), 0u);
  EXPECT_EQ(again.trials, 24);
  EXPECT_EQ(again.valid, 24);
  EXPECT_EQ(runner.good.runs, 29) << "the five, and nothing else";
  EXPECT_EQ(tune_into("r.db", runner).valid, 24);
  EXPECT_EQ(runner.good.runs, 29);
}

TEST_F(TunerTest, TheUnscheduledProgramAndItsParallelFormAreCandidates) {
  ReplayingRunner runner;
  tune_into("r.db", runner);
  const std::vector<Record> all = records("r.db");
  EXPECT_EQ(Trace::parse(all[0].trace).str(), "# tunesmith trace 2\nenter_finishing()\n");
  const Trace parallel = Trace::parse(all[1].trace);
  EXPECT_EQ(parallel.str(),
            "# tunesmith trace 2\nb0 = get_block(\"C\")\nl1, l2, l3, l4 = get_loops(b0)\nparallel(l2)\n"
            "enter_finishing()\n");
}

/// The unscheduled program, which it gets first, is the fastest.
class PlainIsFast final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    std::vector<MeasureResult> results;
    for (const MeasureRequest& request : requests) {
      if (plain_.empty()) plain_ = request.kernel->object;
      MeasureResult result;
      result.timing = make_timing({seconds(*request.kernel)});
      results.push_back(std::move(result));
    }
    return results;
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    std::vector<InterleavedTimes> times;
    for (const CompiledKernel* kernel : kernels)
      times.push_back({std::vector<double>(static_cast<size_t>(options.rounds), seconds(*kernel)), 0, {}});
    return times;
  }

 private:
  double seconds(const CompiledKernel& kernel) const { return kernel.object == plain_ ? 427e-9 : 510e-9; }
  std::string plain_;
};

TEST_F(TunerTest, AnAnswerIsNeverSlowerThanTheUnscheduledProgram) {
  PlainIsFast runner;
  const TuneResult result = tune_into("r.db", runner);
  EXPECT_EQ(result.best_trace.str(), "# tunesmith trace 2\nenter_finishing()\n");
  EXPECT_DOUBLE_EQ(result.best_seconds, 427e-9);
  EXPECT_DOUBLE_EQ(result.baseline_seconds, 427e-9);
}

// Replaying 1,000 records takes 0.2 s and 43 MB before the first candidate.
TEST_F(TunerTest, OfAnotherRunTheFastestAreGivenAndAllAreKnown) {
  ReplayingRunner runner(5);
  tune_into("r.db", runner);
  const Workload tuned = workload();
  const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  const Space space(spaces.space(space_), registry_, target_);
  RecordStore store(folder_ / "r.db");
  RecordFilter filter;
  filter.task = task_key(tuned, space, options_.measure_threads);
  const RecordedNames names(tuned, store, space.intrinsics());
  ThreadPool pool(2);
  History history(tuned, space, store, filter, RecordedRun{}, names);
  History cut(tuned, space, store, filter, RecordedRun{}, names, 5);
  EXPECT_TRUE(history.others().empty());
  const std::vector<KnownProgram> all = history.next(pool);
  const std::vector<KnownProgram> few = cut.next(pool);
  EXPECT_EQ(few.size() + cut.others().size(), all.size());
  ASSERT_EQ(few.size(), 7u) << "and the plain forms";
  EXPECT_TRUE(cut.next(pool).empty());
  double fastest = 1e9;
  for (const KnownProgram& known : all) {
    if (known.measured.timing) fastest = std::min(fastest, known.measured.timing->min);
  }
  EXPECT_TRUE(std::ranges::any_of(few, [&](const KnownProgram& known) {
    return known.measured.timing && known.measured.timing->min == fastest;
  }));
}

/// Throws after some requests, since it has no worker left.
class FailingRunner final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    if (left-- == 0) throw EnvironmentError("the disk is full");
    return good.run(requests);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return good.interleave(kernels, options);
  }
  ReplayingRunner good;
  int left = -1;
};

// It once looked like a killed run.
TEST_F(TunerTest, ARunThatAnErrorEndsSaysSo) {
  FailingRunner runner;
  runner.left = 2;
  EXPECT_THROW(tune_into("r.db", runner), EnvironmentError);
  const RecordStore store(folder_ / "r.db", RecordStore::Mode::Existing);
  const std::optional<RecordedRun> run = store.run(store.list({}).front().run);
  ASSERT_TRUE(run.has_value());
  EXPECT_GT(run->ended_ms, 0);
  EXPECT_EQ(run->ended_because, "error: the disk is full");
}

TEST_F(TunerTest, ARunEndsOnce) {
  const Workload workload = this->workload();
  const SpacesFile spaces = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  const Space space(spaces.space(space_), registry_, target_);
  RecordStore store(folder_ / "r.db");
  ReplayingRunner runner;
  TuningTask task(workload, space, store, runner, environment_, options_);
  EXPECT_GT(task.step(4), 0);
  task.finish("enough", false);
  EXPECT_THROW(task.finish(), InternalError);
  EXPECT_THROW(task.step(4), InternalError);
  EXPECT_EQ(store.run(task.run())->ended_because, "enough");
}

/// Waits a fifth of a second for the machine at its first measurement.
class WaitingRunner final : public Runner {
 public:
  WaitingRunner(MachineLock& machine, fs::path file) : machine_(machine), file_(std::move(file)) {}
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    if (!std::exchange(waited_, true)) {
      MachineLock other(file_);
      std::optional<MachineLock::Turn> turn = other.wait(MachineLock::Use::Measure);
      const std::jthread gives_it_back([&] {
        std::this_thread::sleep_for(std::chrono::milliseconds(200));
        turn.reset();
      });
      machine_.wait(MachineLock::Use::Measure);
    }
    return good_.run(requests);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    return good_.interleave(kernels, options);
  }

 private:
  MachineLock& machine_;
  fs::path file_;
  bool waited_ = false;
  ReplayingRunner good_;
};

TEST_F(TunerTest, WaitingForTheMachineIsNoMeasuring) {
  const fs::path file = folder_ / "machine.lock";
  options_.machine = std::make_shared<MachineLock>(file);
  WaitingRunner runner(*options_.machine, file);
  const TuneResult result = tune_into("r.db", runner);
  EXPECT_GE(result.times.wait, 0.05) << "its thread may come late to the lock";
  EXPECT_LT(result.times.measure, result.times.wait);
}

// 40 buffers of 16 KiB exceed the stack.
TEST_F(TunerTest, ManyBuffersAreNoReasonToRefuseTheUnscheduledProgram) {
  std::string stages = "  S0[i<4096] = X[i] + 1\n";
  for (int i = 1; i < 40; ++i) {
    stages += "  S" + std::to_string(i) + "[i<4096] = S" + std::to_string(i - 1) + "[i] + 1\n";
  }
  definition_ =
      "name: chain\ninputs:\n  X: {shape: [4096], dtype: f32}\ncompute: |\n" + stages + "outputs: [S39]\n";
  ReplayingRunner runner;
  space_ = "cpu";
  options_.trials = 2;
  const TuneResult result = tune_into("r.db", runner);
  EXPECT_GT(result.valid, 0);
  EXPECT_GT(result.baseline_seconds, 0.0);
  EXPECT_EQ(result.refusals.count("the buffers on the stack are too big"), 0u);
}

}  // namespace
}  // namespace tunesmith
