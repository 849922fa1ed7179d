#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(DecomposeReduction, AtEveryLoopOfATile) {
  const Program before = make_gmm(7, 5, 9);
  for (size_t at = 0; at < 5; ++at) {
    Schedule schedule(before);
    const BlockRV block = schedule.get_block("C");
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    const std::vector<LoopRV> i = schedule.split(loops[0], {std::nullopt, 4});
    const std::vector<LoopRV> k = schedule.split(loops[2], {std::nullopt, 2});
    const std::vector<LoopRV> order = {i[0], k[0], loops[1], i[1], k[1]};
    schedule.reorder(order);
    if (at > 1) {
      expect_refused(schedule, "decompose_reduction", "a loop further out carries the reduction",
                     [&] { schedule.decompose_reduction(block, order[at]); });
      continue;
    }
    schedule.decompose_reduction(block, order[at]);
    expect_sound(before, schedule);
  }
}

TEST(DecomposeReduction, RefusesTwice) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  schedule.decompose_reduction(block, loops[2]);
  expect_refused(schedule, "decompose_reduction", "the block has no initialisation",
                 [&] { schedule.decompose_reduction(block, loops[2]); });
}

TEST(DecomposeReduction, RefusesALoopElsewhere) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}",
                                 "B[i<n] = sum(r<n) A[i, r]\n  O[i<n] = B[i] + 1"));
  const BlockRV block = schedule.get_block("B");
  const LoopRV other = schedule.get_loops(schedule.get_block("O"))[0];
  expect_refused(schedule, "decompose_reduction", "the loop does not stand around the block",
                 [&] { schedule.decompose_reduction(block, other); });
}

TEST(DecomposeReduction, RefusesALoopThatIsBothSpatialAndReduction) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const LoopRV fused = schedule.fuse({loops[1], loops[2]});
  expect_refused(schedule, "decompose_reduction", "a loop carries spatial and reduction iterators",
                 [&] { schedule.decompose_reduction(block, fused); });
}

TEST(DecomposeReduction, RefusesALoopThatRunsAnElementTwice) {
  const Program before = make_program("{n: 4}", "{A: {shape: [n, 3], dtype: f32}}",
                                      "S[v<n] = sum(k<3) A[v, k]\n  O[i<8] = inside(S[i - i//4], 0)");
  Schedule schedule(before);
  const BlockRV sum = schedule.get_block("S");
  const LoopRV loop = schedule.get_loops(schedule.get_block("O"))[0];
  schedule.compute_at(sum, loop);
  expect_sound(before, schedule);
  EXPECT_THROW(schedule.decompose_reduction(sum, loop), ScheduleError);
}

TEST(DecomposeReduction, RefusesALoopThatMakesWhatTheInitialisationReads) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n], dtype: f32}, B: {shape: [n, n], dtype: f32}}",
                                 "S[i<n] = A[i] * 2\n  T[i<n] = sum(r<n) B[i, r]\n  O[i<n] = S[i] + T[i]"));
  const BlockRV sum = schedule.get_block("T");
  schedule.fuse_reduction_epilogue(sum, schedule.get_block("O"));
  const std::vector<LoopRV> loops = schedule.get_loops(sum);
  schedule.compute_at(schedule.get_block("S"), loops[1]);
  for (const LoopRV& loop : loops) {
    expect_refused(schedule, "decompose_reduction",
                   "a block inside the loop writes what the initialisation reads",
                   [&] { schedule.decompose_reduction(sum, loop); });
  }
}

}  // namespace
}  // namespace tunesmith::test
