#include "tunesmith/evaluation/space_shares.h"

#include <gtest/gtest.h>

#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

constexpr const char* kWorkload = R"(name: twice
params: {n: 8}
inputs:
  X: {shape: [n], dtype: f32}
compute: |
  O[i<n] = X[i] * 2
outputs: [O]
)";

void choose(Schedule& schedule, size_t count) {
  const std::vector<int64_t> candidates(count, 1);
  schedule.sample_categorical(candidates, std::vector<double>(count, 1.0 / static_cast<double>(count)));
}

TEST(SharesOf, WeighsSketchesByTheirPointsAndModulesByTheirChoices) {
  const Workload workload = WorkloadDefinition::parse(kWorkload, "twice.yaml").instantiate();
  SketchSet set;
  for (const char* module : {"wide", "narrow", "idle"})
    set.events.push_back({module, "O", ModuleResult::Status::Applied, "", 1, 1});
  Schedule both(workload.program);  // 8 points: 2 bits and 1 bit
  choose(both, 4);
  choose(both, 2);
  set.sketches.push_back(std::move(both));
  set.steps.push_back({{"wide", "O", 0, 1}, {"narrow", "", 1, 2}});
  Schedule one(workload.program);  // 2 points: 1 bit
  choose(one, 2);
  set.sketches.push_back(std::move(one));
  set.steps.push_back({{"narrow", "", 0, 1}});

  const SpaceShares shares = shares_of(set);
  EXPECT_DOUBLE_EQ(shares.points, 10.0);
  ASSERT_EQ(shares.modules.size(), 3U);
  EXPECT_EQ(shares.modules[0].module, "wide");
  EXPECT_DOUBLE_EQ(shares.modules[0].points, 0.8);
  EXPECT_DOUBLE_EQ(shares.modules[0].choices, 16.0 / 26.0);
  EXPECT_DOUBLE_EQ(shares.modules[1].points, 1.0);
  EXPECT_DOUBLE_EQ(shares.modules[1].choices, 10.0 / 26.0);
  EXPECT_EQ(shares.modules[2].points, 0.0);
  EXPECT_EQ(shares.modules[2].choices, 0.0);
}

TEST(SharesOf, CountsTheDecisionsOfADomain) {
  const Workload workload = WorkloadDefinition::parse(kWorkload, "twice.yaml").instantiate();
  SketchSet set;
  Schedule schedule(workload.program);
  const BlockRV block = schedule.get_block("O");
  schedule.sample_perfect_tile(schedule.get_loops(block)[0], 3, 4);
  set.sketches.push_back(std::move(schedule));
  set.steps.emplace_back();
  // 8 as three factors, the last of them 1, 2 or 4: 4 + 3 + 2.
  EXPECT_DOUBLE_EQ(shares_of(set).points, 9.0);
}

TEST(SharesOf, ASpaceOfOnePoint) {
  const Workload workload = WorkloadDefinition::parse(kWorkload, "twice.yaml").instantiate();
  SketchSet set;
  set.sketches.emplace_back(workload.program);
  set.steps.emplace_back();
  set.events.push_back({"idle", "O", ModuleResult::Status::NotApplicable, "nothing to do", 0, 1});
  const SpaceShares shares = shares_of(set);
  EXPECT_DOUBLE_EQ(shares.points, 1.0);
  EXPECT_EQ(shares.modules[0].choices, 0.0);
}

}  // namespace
}  // namespace tunesmith
