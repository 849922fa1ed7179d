#include "tunesmith/proposals/first_program.h"

#include <algorithm>
#include <set>

#include <gtest/gtest.h>

#include "tunesmith/space/spaces_file.h"
#include "tunesmith/workload/library.h"
#include "unit/tuning/uncompiled_target.h"

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
  // More draws begin with the same.
  EXPECT_GE(ranked(400, 1, 2).scores.front(), all.scores.front());
}

}  // namespace
}  // namespace tunesmith
