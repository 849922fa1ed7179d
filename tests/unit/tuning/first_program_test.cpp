#include "tunesmith/tuning/first_program.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tunesmith/space/spaces_file.h"
#include "tunesmith/workload/library.h"
#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

TEST(FirstProgram, IsTheBestOfItsDrawsWithAnyNumberOfThreads) {
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry,
                    std::make_shared<UncompiledTarget>(registry));
  const Workload workload = WorkloadLibrary().load("gmm:n=64,m=48,k=32");
  const auto ranked = [&](int64_t draws, size_t keep, size_t threads) {
    ThreadPool pool(threads);
    return best_of_draws(workload, space, *space.create_cost_model(), {draws, 3, keep}, pool);
  };
  const RankedDraws all = ranked(300, 1000, 1);
  EXPECT_EQ(all.drawn, 300);
  EXPECT_EQ(all.programs, std::ssize(all.best));
  EXPECT_GT(all.programs, 100);
  EXPECT_TRUE(std::ranges::is_sorted(all.scores, std::greater<>()));
  std::set<uint64_t> programs;
  for (const CandidatePtr& candidate : all.best) programs.insert(candidate->lowered_hash);
  EXPECT_EQ(std::ssize(programs), all.programs);

  const RankedDraws few = ranked(300, 4, 2);
  ASSERT_EQ(few.best.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_EQ(few.best[i]->lowered_hash, all.best[i]->lowered_hash);
  EXPECT_EQ(few.programs, all.programs);
  // More draws begin with the same ones.
  EXPECT_GE(ranked(400, 1, 2).scores.front(), all.scores.front());
}

class BeginsWithFirstPrograms : public TunerTest {
 protected:
  BeginsWithFirstPrograms() {
    space_ = "cpu";
    options_.first_draws = 64;
    options_.trials = 16;
    options_.batch = 16;
  }

  /// The first programs, as ranked by --untuned.
  std::vector<uint64_t> first_programs() {
    const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry_, target_);
    ThreadPool pool(2);
    DrawOptions options;
    options.draws = options_.first_draws;
    std::vector<uint64_t> hashes;
    for (const CandidatePtr& one :
         best_of_draws(workload(), space, *space.create_cost_model(), options, pool).best)
      hashes.push_back(one->lowered_hash);
    return hashes;
  }

  /// The records of trials after the plain forms.
  std::vector<Record> behind_plain_forms(const std::string& store) const {
    std::vector<Record> all = records(store);
    all.erase(all.begin(), all.begin() + std::min<std::ptrdiff_t>(kPlainForms, std::ssize(all)));
    return all;
  }
};

TEST_F(BeginsWithFirstPrograms, TimesThemUntilEnoughAreRight) {
  ReplayingRunner runner(2);  // every second program fails
  tune_into("one.db", runner);
  const std::vector<uint64_t> first = first_programs();
  ASSERT_EQ(first.size(), 2 * kFirstTried);
  const std::vector<Record> tried = behind_plain_forms("one.db");
  size_t right = 0;
  size_t count = 0;
  for (; right < kFirstTried && count < first.size(); ++count) {
    ASSERT_EQ(tried.at(count).lowered_hash, first[count]) << count;
    right += tried[count].ok() ? 1 : 0;
  }
  EXPECT_GT(count, right) << "the runner made some fail";
  if (count < first.size()) {
    EXPECT_NE(tried.at(count).lowered_hash, first[count]) << "the searcher's turn";
  }
  EXPECT_EQ(std::ssize(records("one.db")), options_.trials);
}

TEST_F(BeginsWithFirstPrograms, AlsoInSmallSteps) {
  ReplayingRunner runner;
  tune_into("whole.db", runner);
  const Workload workload = this->workload();
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry_, target_);
  RecordStore store(folder_ / "steps.db");
  TuningTask task(workload, space, store, runner, environment_, options_);
  for (int step = 0; step < 6; ++step) EXPECT_EQ(task.step(1), 1);
  const std::vector<std::string> steps = story("steps.db");
  const std::vector<std::string> whole = story("whole.db");
  EXPECT_TRUE(std::equal(steps.begin(), steps.end(), whole.begin()));
}

TEST_F(BeginsWithFirstPrograms, NotWhereMuchIsOnRecord) {
  ReplayingRunner runner;
  options_.first_draws = 0;
  options_.trials = 24;
  tune_into("one.db", runner);
  options_.first_draws = 64;
  options_.seed = 8;
  options_.trials = 4;
  tune_into("one.db", runner);
  const std::vector<Record> tried = records("one.db");
  for (size_t i = 24; i < tried.size(); ++i) EXPECT_NE(tried[i].lowered_hash, first_programs().front());
}

}  // namespace
}  // namespace tunesmith
