// Many tasks under one budget, with a runner that replays.
#include "tunesmith/tuning/tune_many.h"

#include <algorithm>
#include <atomic>
#include <chrono>
#include <condition_variable>
#include <fstream>
#include <mutex>
#include <numeric>
#include <random>
#include <semaphore>
#include <thread>

#include <gmock/gmock.h>

#include "extended.h"
#include "tunesmith/tuning/similar_tasks.h"
#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

using testing::Each;
using testing::ElementsAre;
using testing::HasSubstr;

/// The runner of a workload that cannot be measured.
class RefusingRunner final : public Runner {
 public:
  std::vector<MeasureResult> run(std::span<const MeasureRequest> /*requests*/) override {
    throw UserError("no data would tell");
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> /*kernels*/,
                                           const InterleaveOptions& /*options*/) override {
    return {};
  }
};

/// A number of workers, each of which takes an unpredictable time.
class Workers {
 public:
  explicit Workers(int count) : free_(count) {}
  void work() {
    free_.acquire();
    std::this_thread::sleep_for(std::chrono::microseconds(std::random_device()() % 800));
    free_.release();
  }
  /// Waits until three rounds are under way; false if that does not happen.
  bool meet() {
    std::unique_lock lock(mutex_);
    ++asked_;
    changed_.notify_all();
    return changed_.wait_for(lock, std::chrono::seconds(60), [this] { return asked_ >= 3; });
  }

 private:
  std::counting_semaphore<> free_;
  std::mutex mutex_;
  std::condition_variable changed_;
  int asked_ = 0;
};

class FleetRunner final : public Runner {
 public:
  explicit FleetRunner(Workers& workers) : workers_(workers) {}
  size_t at_once() const override { return 1000; }
  std::vector<MeasureResult> run(std::span<const MeasureRequest> requests) override {
    EXPECT_TRUE(workers_.meet());
    std::vector<std::thread> jobs;
    for (size_t i = 0; i < requests.size(); ++i) jobs.emplace_back([this] { workers_.work(); });
    for (std::thread& job : jobs) job.join();
    return times_.run(requests);
  }
  std::vector<InterleavedTimes> interleave(std::span<const CompiledKernel* const> kernels,
                                           const InterleaveOptions& options) override {
    workers_.work();
    return times_.interleave(kernels, options);
  }

 private:
  Workers& workers_;
  ReplayingRunner times_{5};
};

class TuneManyTest : public TunerTest {
 protected:
  TuneManyTest() {
    many_.task = options_;
    many_.trials = 48;
    for (const char* text : {"gmm:n=32,m=48,k=16", "gmm:n=16,m=16,k=64", "softmax:m=64,n=512"})
      tasks_.push_back({WorkloadLibrary().load(text), 1.0, 1e6});
  }

  TuneManyResult run(const std::string& store_name, const TuneManyHooks& hooks = {}) {
    SpaceSpec spec = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(space_);
    if (!scheduler_.empty()) spec.task_scheduler = {scheduler_, {}, {}, false};
    const Space space(spec, registry_, target_);
    RecordStore store(folder_ / store_name);
    const MakeRunner make = [&](const WeightedTask& task) -> std::unique_ptr<Runner> {
      if (task.workload.name == refused_) return std::make_unique<RefusingRunner>();
      if (workers_ != nullptr) return std::make_unique<FleetRunner>(*workers_);
      return std::make_unique<ReplayingRunner>(5);
    };
    return tune_many(tasks_, space, store, make, environment_, many_, hooks);
  }

  /// Workload and lowered hash of every search's record, in order.
  std::vector<std::string> way(const std::string& store_name) const {
    std::vector<std::string> way;
    for (const Record& record : records(store_name))
      way.push_back(record.workload + hex64(record.lowered_hash));
    return way;
  }

  static std::vector<int64_t> trials_of(const TuneManyResult& result) {
    std::vector<int64_t> trials;
    for (const TaskOutcome& task : result.tasks) trials.push_back(task.history.trials);
    return trials;
  }

  TuneManyOptions many_;
  std::vector<WeightedTask> tasks_;
  std::string scheduler_;
  std::string refused_;
  Workers* workers_ = nullptr;
};

TEST_F(TuneManyTest, TheBudgetIsSharedAndKept) {
  const TuneManyResult result = run("r.db");
  EXPECT_EQ(result.trials, 48);
  EXPECT_EQ(records("r.db").size(), 48u);
  for (const TaskOutcome& task : result.tasks) {
    EXPECT_GE(task.history.trials, 8) << "each has a round";
    EXPECT_EQ(task.result.trials, task.history.trials);
    EXPECT_NE(task.result.best_id, "");
    EXPECT_TRUE(task.result.best_time) << "ranked";
    EXPECT_EQ(task.ended_because, "shared budget");
    EXPECT_FALSE(task.result.plain_alone);
    EXPECT_EQ(task.history.best(),
              std::min_element(task.history.improvements.begin(), task.history.improvements.end(),
                               [](const auto& a, const auto& b) { return a.seconds < b.seconds; })
                  ->seconds);
  }
}

TEST_F(TuneManyTest, ABudgetThatIsNoMultipleOfARoundIsKept) {
  many_.trials = 21;
  scheduler_ = "round_robin";
  EXPECT_THAT(trials_of(run("r.db")), ElementsAre(7, 7, 7));
  many_.trials = 27;
  EXPECT_THAT(trials_of(run("s.db")), ElementsAre(11, 8, 8));
}

TEST_F(TuneManyTest, ASmallBudgetLeavesNoTaskOut) {
  for (const int64_t trials : {3, 7, 20}) {
    many_.trials = trials;
    const TuneManyResult result = run("r" + std::to_string(trials) + ".db");
    for (const TaskOutcome& task : result.tasks) EXPECT_GT(task.history.trials, 0) << trials;
  }
}

TEST_F(TuneManyTest, TheSchedulerDecides) {
  scheduler_ = "round_robin";
  EXPECT_THAT(trials_of(run("turns.db")), ElementsAre(16, 16, 16));
  scheduler_ = "greedy_time";
  many_.goal = TuningGoal::TotalTime;
  tasks_[1].weight = 1e6;
  EXPECT_THAT(trials_of(run("greedy.db")), ElementsAre(8, 32, 8));
}

TEST_F(TuneManyTest, TheSameSeedGoesTheSameWayWithOneThreadOrTwo) {
  space_ = "cpu";
  many_.task.threads = 1;
  run("one.db");
  many_.task.threads = 2;
  run("two.db");
  EXPECT_EQ(way("one.db"), way("two.db"));
}

TEST_F(TuneManyTest, RoundsAtOnceGoTheSameWayWithAnyNumberOfWorkers) {
  space_ = "cpu";
  many_.trials = 96;
  many_.rounds_at_once = 3;
  for (const int count : {1, 3, 8}) {
    Workers workers(count);
    workers_ = &workers;
    const std::string name = std::to_string(count) + ".db";
    const TuneManyResult result = run(name);
    EXPECT_EQ(result.trials, 96);
    EXPECT_EQ(way(name), way("1.db")) << count << " workers";
    for (const TaskOutcome& task : result.tasks) EXPECT_TRUE(task.result.best_time) << "ranked";
  }
}

TEST_F(TuneManyTest, RoundsAtOnceKeepTheBudgetAndLeaveNoTaskOut) {
  many_.rounds_at_once = 2;
  for (const int64_t trials : {3, 7, 20, 48}) {
    many_.trials = trials;
    const TuneManyResult result = run("r" + std::to_string(trials) + ".db");
    EXPECT_EQ(result.trials, trials);
    for (const TaskOutcome& task : result.tasks) EXPECT_GT(task.history.trials, 0) << trials;
  }
  refused_ = "softmax";
  const TuneManyResult refused = run("refused.db");
  EXPECT_THAT(refused.tasks[2].error, HasSubstr("no data would tell"));
  EXPECT_EQ(refused.trials, 48);
}

TEST_F(TuneManyTest, AnErrorEndsRoundsThatAreUnderWay) {
  many_.rounds_at_once = 3;
  TuneManyHooks hooks;
  hooks.recorded = [](size_t task, const Record&) {
    if (task == 1) throw EnvironmentError("the disk is full");
  };
  EXPECT_THROW(run("r.db", hooks), EnvironmentError);
  const RecordStore store(folder_ / "r.db");
  for (const Record& record : records("r.db"))
    EXPECT_THAT(store.run(record.run)->ended_because, HasSubstr("error: "));
}

// The first of two similar tasks begins without seeds, and later gets the second one's programs.
TEST_F(TuneManyTest, TasksThatAreTunedInTurnSeedEachOther) {
  space_ = "cpu";
  scheduler_ = "round_robin";
  tasks_[1].workload = WorkloadLibrary().load("gmm:n=32,m=48,k=32");  // with the same sketches
  const TuneManyResult one_round = [&] {
    many_.trials = 24;
    return run("first.db");
  }();
  EXPECT_EQ(one_round.tasks[0].result.seeded.records, 0);
  EXPECT_GT(one_round.tasks[1].result.seeded.records, 0);
  many_.trials = 48;
  const TuneManyResult two_rounds = run("both.db");
  EXPECT_GT(two_rounds.tasks[0].result.seeded.records, 0);
  EXPECT_EQ(two_rounds.tasks[2].result.seeded.records, 0) << "of another operator";
}

TEST_F(TuneManyTest, ARunThatWasKilledGoesTheWayThatItWouldHaveGone) {
  space_ = "cpu";
  const TuneManyResult whole = run("whole.db");
  const std::vector<int> cuts = test::usual_or_extended<std::vector<int>>({20}, {1, 10, 20, 32, 37});
  for (const int cut : cuts) {
    const std::string name = "cut" + std::to_string(cut) + ".db";
    std::atomic<bool> stop = false;
    int reported = 0;
    TuneManyHooks hooks;
    hooks.stop = &stop;
    hooks.recorded = [&](size_t, const Record&) { stop = ++reported >= cut; };
    const TuneManyResult first = run(name, hooks);
    EXPECT_TRUE(first.interrupted);
    EXPECT_LT(first.trials, 48);
    const TuneManyResult second = run(name);
    EXPECT_EQ(second.trials, 48) << "what was measured before counts";
    EXPECT_EQ(trials_of(second), trials_of(whole)) << "cut after " << cut;
    EXPECT_EQ(way(name), way("whole.db")) << "cut after " << cut;
  }
}

TEST_F(TuneManyTest, WhatIsOnRecordOfATaskCounts) {
  scheduler_ = "round_robin";
  options_.trials = 16;
  workload_ = "gmm:n=16,m=16,k=64";
  ReplayingRunner runner(5);
  tune_into("r.db", runner);
  const TuneManyResult result = run("r.db");
  EXPECT_THAT(trials_of(result), ElementsAre(16, 16, 16));
  EXPECT_EQ(result.tasks[1].result.resumed, 16);
  EXPECT_EQ(records("r.db").size(), 48u);
}

TEST_F(TuneManyTest, ATaskIsLeftWhenLittleIsExpectedOfIt) {
  many_.min_gain = 0.9;
  const TuneManyResult result = run("r.db");
  EXPECT_THAT(trials_of(result), Each(8)) << "a round each, and no more";
  for (const TaskOutcome& task : result.tasks) EXPECT_EQ(task.ended_because, "expected gain");
}

TEST_F(TuneManyTest, AnExhaustedTaskLeavesItsTrialsToOthers) {
  scheduler_ = "round_robin";
  tasks_[0] = {WorkloadLibrary().load("elementwise_chain:n=8,m=8"), 1.0, 1e6};
  const TuneManyResult result = run("r.db");
  EXPECT_EQ(result.trials, 48);
  EXPECT_LT(result.tasks[0].history.trials, 16);
  EXPECT_EQ(result.tasks[0].ended_because, "nothing left to propose");
  EXPECT_TRUE(result.tasks[0].result.exhausted);
}

TEST_F(TuneManyTest, AWorkloadThatNobodyCanMeasureStopsNoOther) {
  refused_ = "softmax";
  std::vector<std::string> said;
  TuneManyHooks hooks;
  hooks.refused = [&](size_t task, const std::string& error) {
    said.push_back(std::to_string(task) + ": " + error);
  };
  int64_t trials = 0;  // at the time of the sentence
  hooks.progress = [&](const TuneManyProgress& now) { trials = said.empty() ? now.trials : trials; };
  const TuneManyResult result = run("r.db", hooks);
  EXPECT_THAT(said, ElementsAre("2: no data would tell"));
  EXPECT_LE(trials, 2 * many_.task.batch) << "before any task has a second round";
  EXPECT_THAT(result.tasks[2].error, HasSubstr("no data would tell"));
  EXPECT_EQ(result.tasks[2].history.trials, 0);
  EXPECT_EQ(result.trials, 48);
  EXPECT_NE(result.tasks[0].result.best_id, "");
}

TEST_F(TuneManyTest, AFileOfAModelThatIsNoneIsRefusedForAll) {
  many_.task.model_file = folder_ / "model";
  std::ofstream(many_.task.model_file) << "something else\n";
  EXPECT_THROW(run("r.db"), UserError);
}

TEST_F(TuneManyTest, ABudgetOfSecondsHoldsTheRankings) {
  many_.trials = 0;
  many_.seconds = 1e-9;
  const TuneManyResult none = run("none.db");
  EXPECT_EQ(none.trials, 0);
  // More than a second is reserved for each ranking.
  many_.task.final_candidates = 1;
  many_.task.final_rounds = 1;
  many_.task.batch = 4;
  many_.seconds = 8.0;
  const TuneManyResult some = run("some.db");
  EXPECT_GT(some.trials, 12) << "more than a round each";
  EXPECT_LT(some.seconds, 8.0);
  for (const TaskOutcome& task : some.tasks) {
    EXPECT_TRUE(task.result.best_time) << "ranked";
    // A fast machine exhausts a small space.
    EXPECT_THAT(task.ended_because, testing::AnyOf("shared budget", "nothing left to propose"));
  }
}

TEST_F(TuneManyTest, ProgressSaysWhoIsAtWork) {
  many_.trials = 48;
  std::vector<TuneManyProgress::Phase> phases;
  int64_t trials = 0;
  TuneManyHooks hooks;
  hooks.progress = [&](const TuneManyProgress& progress) {
    if (phases.empty() || phases.back() != progress.phase) phases.push_back(progress.phase);
    EXPECT_GE(progress.trials, trials);
    trials = progress.trials;
    EXPECT_EQ(progress.histories.size(), 3u);
    EXPECT_LT(progress.task, 3u);
  };
  run("r.db", hooks);
  EXPECT_EQ(trials, 48);
  using Phase = TuneManyProgress::Phase;
  EXPECT_THAT(phases, ElementsAre(Phase::Opening, Phase::Searching, Phase::Ranking));
}

TEST_F(TuneManyTest, EndsOnRecordSayWhy) {
  run("r.db");
  const RecordStore store(folder_ / "r.db");
  for (const Record& record : records("r.db"))
    EXPECT_EQ(store.run(record.run)->ended_because, "shared budget");
}

TEST_F(TuneManyTest, ASpaceWithoutASchedulerSaysWhatToWrite) {
  const SpacesFile file = SpacesFile::parse(
      "version: 1\nspaces:\n  s: {target: {kind: llvm}, modules: [rewrite_reduction_init], search: {kind: "
      "random}, "
      "cost_model: {kind: random}}\n",
      "s.yaml");
  const Space space(file.space(""), registry_);
  EXPECT_THAT([&] { space.create_task_scheduler(); },
              testing::ThrowsMessage<UserError>(
                  testing::AllOf(HasSubstr("s.yaml:3"), HasSubstr("task_scheduler: {kind: ...}"))));
}

TEST(SimilarityGroup, IsOfOneDefinitionAndOneType) {
  const WorkloadLibrary library;
  const auto group = [&](const char* text) { return similarity_group(library.load(text)); };
  EXPECT_EQ(group("gmm:n=32,m=48,k=16"), group("gmm:n=8,m=8,k=8"));
  EXPECT_NE(group("gmm:n=32,m=48,k=16"), group("gmm:n=32,m=48,k=16,dtype=bf16,constant_b=1"));
  EXPECT_NE(group("gmm"), group("softmax"));
}

}  // namespace
}  // namespace tunesmith
