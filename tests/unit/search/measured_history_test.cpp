// A history keeps everything about measured programs that a searcher reads, in little memory.
#include "tunesmith/search/measured_history.h"

#include <string>
#include <vector>

#include <malloc.h>

#include "tunesmith/support/random.h"
#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

/// A point of one of two sketches; with `finishing_draws` its finishing part samples, too.
Measured measured(uint64_t seed, bool finishing_draws = false) {
  Schedule schedule(test::make_gmm(1024, 512, 256), RandomStream(seed));
  for (const LoopRV loop : schedule.get_loops(schedule.get_block("C")))
    schedule.sample_perfect_tile(loop, seed % 3 == 0 ? 3 : 4, 64);
  schedule.sample_categorical({0, 16, 48}, {0.5, 0.25, 0.25});
  const SamplingPoints points = schedule.sampling_points();
  schedule.enter_finishing();
  if (finishing_draws) schedule.sample_categorical({1, 2}, {0.5, 0.5});
  auto candidate = std::make_shared<Candidate>();
  candidate->trace = schedule.trace();
  candidate->points = points;
  candidate->lowered_hash = seed;
  Measured result{candidate, std::nullopt, std::nullopt};
  if (seed % 5 == 0) {
    result.failure =
        CandidateFailure{FailureCause::WrongResult, "C[3] is " + std::to_string(seed), "block C"};
  } else {
    const double seconds = 1e-6 * static_cast<double>(seed % 7 + 1);
    result.timing = make_timing({1.5 * seconds, seconds, 2.0 * seconds});
    result.timing->prepare = 0.25 * seconds;
  }
  return result;
}

void expect_same(const Measured& kept, const Measured& added) {
  EXPECT_EQ(kept.candidate->trace, added.candidate->trace.searchable());
  EXPECT_EQ(kept.candidate->lowered_hash, added.candidate->lowered_hash);
  EXPECT_FALSE(kept.candidate->has_program());
  ASSERT_EQ(kept.candidate->points.size(), added.candidate->points.size());
  for (size_t i = 0; i < kept.candidate->points.size(); ++i) {
    EXPECT_EQ(kept.candidate->points[i].position, added.candidate->points[i].position);
    EXPECT_EQ(kept.candidate->points[i].kind, added.candidate->points[i].kind);
    EXPECT_EQ(kept.candidate->points[i].domain, added.candidate->points[i].domain);
  }
  EXPECT_EQ(kept.timing, added.timing);
  EXPECT_EQ(kept.failure, added.failure);
}

TEST(MeasuredHistory, GivesBackWhatWasAdded) {
  MeasuredHistory history;
  EXPECT_TRUE(history.empty());
  std::vector<Measured> added;
  for (uint64_t seed = 1; seed <= 30; ++seed) {
    added.push_back(measured(seed));
    history.add(added.back());
  }
  ASSERT_EQ(history.size(), added.size());
  for (size_t i = 0; i < added.size(); ++i) {
    expect_same(history[i], added[i]);
    EXPECT_EQ(history.lowered_hash(i), added[i].candidate->lowered_hash);
    EXPECT_EQ(history.seconds(i), added[i].timing ? std::optional(added[i].timing->min) : std::nullopt);
  }
  const std::vector<Measured> last = history.since(27);
  ASSERT_EQ(last.size(), 3U);
  for (size_t i = 0; i < 3; ++i) expect_same(last[i], added[27 + i]);
}

/// Decisions of the finishing part are not drawn again when the trace is replayed.
TEST(MeasuredHistory, KeepsWhatFinishingDrew) {
  MeasuredHistory history;
  const Measured added = measured(1, true);
  history.add(added);
  EXPECT_EQ(history[0].candidate->trace, added.candidate->trace);
}

TEST(MeasuredHistory, GivesTheFastestOfThoseThatWorked) {
  MeasuredHistory history;
  for (uint64_t seed = 1; seed <= 15; ++seed) history.add(measured(seed));
  std::vector<uint64_t> fastest;
  for (const CandidatePtr& candidate : history.fastest(4)) fastest.push_back(candidate->lowered_hash);
  EXPECT_EQ(fastest, (std::vector<uint64_t>{7, 14, 1, 8})) << "equally fast ones as they were added";
  EXPECT_EQ(history.fastest(100).size(), 12U);
}

/// A run of 12,000 trials keeps 11 times as many programs as one of 1,000, but may use only a twentieth more
/// memory: 400 bytes for each trial.
TEST(MeasuredHistory, TakesLittleMemory) {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)
  GTEST_SKIP() << "the sanitizer's allocator keeps no such count";
#endif
  MeasuredHistory history;
  uint64_t seed = 1;
  while (history.size() < 1000) history.add(measured(seed++));
  const size_t before = mallinfo2().uordblks;
  while (history.size() < 4000) history.add(measured(seed++));
  EXPECT_LT((mallinfo2().uordblks - before) / 3000, 350U);
}

}  // namespace
}  // namespace tunesmith
