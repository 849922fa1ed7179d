#include "seeds.h"

#include <algorithm>
#include <cmath>
#include <set>

#include <gmock/gmock.h>

#include "run_record.h"
#include "tunesmith/search/encoding.h"
#include "tunesmith/tuning/similar_tasks.h"
#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

class SeedsTest : public TunerTest {
 protected:
  SeedsTest() {
    space_ = "cpu";
    options_.trials = 16;
  }

  void tune_similar(std::string workload) {
    std::string own = std::exchange(workload_, std::move(workload));
    ReplayingRunner runner(5);
    tune_into("store.db", runner);
    workload_ = std::move(own);
  }

  /// Looks for seeds of the fixture's workload in the store.
  struct Asking {
    explicit Asking(SeedsTest& of)
        : test(of),
          tuned(test.workload()),
          space(std::make_unique<Space>(
              SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(test.space_), test.registry_,
              test.target_)),
          set(space->generate(tuned.program)),
          store(test.folder_ / "store.db") {}

    SeedQuery query() const {
      SeedQuery query;
      query.task = task_key(tuned, *space, test.options_.measure_threads);
      query.machine = test.environment_.machine();
      query.until_ms = now_ms();
      return query;
    }
    Seeds seeds(const SeedQuery& asked) const { return find_seeds(tuned, set.sketches, store, asked); }

    SeedsTest& test;
    const Workload tuned;
    const std::unique_ptr<Space> space;
    const SketchSet set;
    const RecordStore store;
  };

  /// The workload's trials, as recorded.
  std::vector<std::string> story_of(const std::string& store_name, const std::string& workload) const {
    std::vector<std::string> lines;
    for (const Record& record : records(store_name)) {
      if (record.workload.starts_with(workload)) lines.push_back(record.trace + hex64(record.lowered_hash));
    }
    return lines;
  }
};

TEST_F(SeedsTest, AreTheFastestOfTheOtherTaskAsPointsOfThisSpace) {
  workload_ = "gmm:n=48,m=32,k=24";
  tune_similar("gmm:n=32,m=48,k=16");
  const Asking asking(*this);
  const Seeds seeds = asking.seeds(asking.query());
  ASSERT_FALSE(seeds.traces.empty());
  EXPECT_EQ(seeds.counts.records, static_cast<int64_t>(seeds.traces.size()));
  EXPECT_EQ(seeds.counts.tasks, 1);
  std::set<uint64_t> sketches;
  for (const Schedule& sketch : asking.set.sketches) sketches.insert(sketch_key(sketch.trace()));
  size_t made = 0;
  for (const Trace& seed : seeds.traces) {
    EXPECT_TRUE(sketches.contains(sketch_key(seed)));
    if (asking.space->materialise(asking.tuned.program, seed, RandomStream(0))) ++made;
  }
  EXPECT_GE(2 * made, seeds.traces.size()) << "decisions are made legal";
  EXPECT_EQ(asking.seeds(asking.query()).traces, seeds.traces);
  SeedQuery few = asking.query();
  few.max_seeds = 3;
  EXPECT_EQ(asking.seeds(few).traces, std::vector<Trace>(seeds.traces.begin(), seeds.traces.begin() + 3));
}

TEST_F(SeedsTest, OfEqualExtentsTheDecisionsAreTheRecorded) {
  tune_similar("gmm:n=32,m=48,k=16");
  const Asking asking(*this);
  // Under the key of a task without records, the same workload is a similar task.
  SeedQuery other = asking.query();
  other.task.workload_hash += 1;
  const Seeds seeds = asking.seeds(other);
  ASSERT_FALSE(seeds.traces.empty());
  std::set<std::string> recorded;
  for (const Record& record : records("store.db"))
    recorded.insert(Trace::parse(record.trace).searchable().str());
  for (const Trace& seed : seeds.traces) EXPECT_TRUE(recorded.contains(seed.str()));
}

TEST_F(SeedsTest, NothingOfAnotherOperatorMachineOrTimeIsASeed) {
  workload_ = "gmm:n=48,m=32,k=24";
  tune_similar("softmax:m=32,n=32");
  const Asking asking(*this);
  const auto count = [&](const SeedQuery& asked) { return asking.seeds(asked).counts.records; };
  EXPECT_EQ(count(asking.query()), 0) << "of another operator";
  const int64_t before = now_ms();
  tune_similar(workload_);
  EXPECT_EQ(count(asking.query()), 0) << "of the task itself";
  tune_similar("gmm:n=32,m=48,k=16");
  EXPECT_GT(count(asking.query()), 0);
  SeedQuery asked = asking.query();
  asked.until_ms = before;
  EXPECT_EQ(count(asked), 0) << "measured later";
  asked = asking.query();
  asked.machine += 1;
  EXPECT_EQ(count(asked), 0) << "on another machine";
  asked = asking.query();
  asked.task.threads += 1;
  EXPECT_EQ(count(asked), 0) << "with other threads";
}

TEST_F(SeedsTest, TheNearestTasksGiveInTurn) {
  workload_ = "gmm:n=48,m=32,k=24";
  tune_similar("gmm:n=32,m=32,k=16");
  const int64_t after_second = now_ms();
  for (const char* other : {"gmm:n=512,m=512,k=8", "gmm:n=48,m=48,k=24"}) tune_similar(other);
  const Asking asking(*this);
  const auto seeds = [&](size_t max_tasks) {
    SeedQuery asked = asking.query();
    asked.max_tasks = max_tasks;
    return asking.seeds(asked);
  };
  const Seeds nearest = seeds(1);
  const Seeds two = seeds(2);
  EXPECT_EQ(nearest.counts.tasks, 1);
  EXPECT_EQ(two.counts.tasks, 2);
  EXPECT_EQ(seeds(9).counts.tasks, 3);
  ASSERT_GE(two.traces.size(), 3U);
  EXPECT_EQ(two.traces[0], nearest.traces[0]);
  SeedQuery of_second = asking.query();
  of_second.until_ms = after_second;
  const std::vector<Trace> second = asking.seeds(of_second).traces;
  const auto best = std::ranges::find_if(second, [&](const Trace& seed) { return seed != two.traces[0]; });
  ASSERT_NE(best, second.end());
  EXPECT_EQ(two.traces[1], *best) << "the second is of the other task";
}

TEST_F(SeedsTest, ARunSaysWhatItWasSeededBy) {
  workload_ = "gmm:n=48,m=32,k=24";
  ReplayingRunner runner(5);
  EXPECT_EQ(tune_into("empty.db", runner).seeded.records, 0);
  tune_similar("gmm:n=32,m=48,k=16");
  options_.resume = false;
  EXPECT_EQ(tune_into("store.db", runner).seeded.records, 0) << "nothing on record is asked";
  options_.resume = true;
  options_.seed = 8;  // another run than the one before
  space_ = "cpu-random";
  EXPECT_EQ(tune_into("store.db", runner).seeded.records, 0) << "the searcher does not ask";
  space_ = "cpu";
  const TuneResult seeded = tune_into("store.db", runner);
  EXPECT_GT(seeded.seeded.records, 0);
  EXPECT_EQ(seeded.seeded.tasks, 1);
}

// Measurements of other tasks since its beginning do not change a resumed run.
TEST_F(SeedsTest, ARunThatIsTakenUpIsGivenTheSameSeeds) {
  workload_ = "gmm:n=48,m=32,k=24";
  const std::string tuned = workload().key;
  tune_similar("gmm:n=32,m=48,k=16");
  fs::copy_file(folder_ / "store.db", folder_ / "cut.db");
  ReplayingRunner runner(5);
  EXPECT_GT(tune_into("store.db", runner).seeded.records, 0);
  for (const int cut : {1, 10}) {
    std::atomic<bool> stop = false;
    TuneHooks hooks;
    hooks.stop = &stop;
    int reported = 0;
    hooks.recorded = [&](const Record&) { stop = ++reported >= cut; };
    EXPECT_TRUE(tune_into("cut.db", runner, hooks).interrupted);
    const std::string own = std::exchange(workload_, cut == 1 ? "gmm:n=48,m=48,k=24" : "gmm:n=40,m=32,k=24");
    tune_into("cut.db", runner);
    workload_ = own;
  }
  tune_into("cut.db", runner);
  EXPECT_EQ(story_of("cut.db", tuned), story_of("store.db", tuned));
}

TEST(ShapeDistance, IsOfAllExtents) {
  const WorkloadLibrary library;
  const auto distance = [&](const char* a, const char* b) {
    return shape_distance(library.load(a), library.load(b));
  };
  EXPECT_EQ(distance("gmm:n=32,m=48,k=16", "gmm:n=32,m=48,k=16"), 0.0);
  // n is in one input and in the output.
  EXPECT_DOUBLE_EQ(distance("gmm:n=32,m=48,k=16", "gmm:n=64,m=48,k=16"), 2.0);
  EXPECT_DOUBLE_EQ(distance("gmm:n=64,m=48,k=16", "gmm:n=32,m=48,k=32"), 4.0);
  EXPECT_TRUE(std::isinf(distance("gmm", "softmax")));
}

}  // namespace
}  // namespace tunesmith
