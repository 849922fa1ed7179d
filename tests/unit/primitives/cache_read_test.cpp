#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(CacheRead, TheBlockReadsTheCopy) {
  const Program before = make_gmm(4, 3, 5);
  Schedule schedule(before);
  const BlockRV copy = schedule.cache_read(schedule.get_block("C"), 1, "local");
  EXPECT_EQ(schedule.block(copy).name, "B_local");
  EXPECT_EQ(body_of(schedule),
            "for ax0 in 0..5:\n"
            "  for ax1 in 0..3:\n"
            "    block B_local(v0: spatial 5 = ax0, v1: spatial 3 = ax1):\n"
            "      B_local[v0, v1] = B[v0, v1]\n"
            "for i in 0..4:\n"
            "  for j in 0..3:\n"
            "    for k in 0..5:\n"
            "      block C(vi: spatial 4 = i, vj: spatial 3 = j, vk: reduction 5 = k):\n"
            "        init:\n"
            "          C[vi, vj] = 0.0\n"
            "        C[vi, vj] = C[vi, vj] + A[vi, vk]*B_local[vk, vj]\n");
  expect_sound(before, schedule);
}

TEST(CacheRead, OthersKeepReadingTheOldBuffer) {
  const Program before = make_program("{n: 4}", "{A: {shape: [n], dtype: f32}}",
                                      "B[i<n] = A[i] + 1\n  C[i<n] = B[i] * 2\n  O[i<n] = B[i] + C[i]");
  Schedule schedule(before);
  schedule.cache_read(schedule.get_block("C"), 0, "local");
  const BlockRV second = schedule.cache_read(schedule.get_block("O"), 0, "local");
  EXPECT_EQ(schedule.block(second).name, "B_local_1");
  expect_sound(before, schedule);
}

TEST(CacheRead, RefusesALayoutWithGaps) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("C");
  schedule.transform_layout(block, "read", 0, "(i, j) -> (i // 3, i % 3, j)");
  expect_refused(schedule, "cache_read", "the buffer has elements that nothing writes",
                 [&] { schedule.cache_read(block, 0, "local"); });
}

TEST(CacheRead, RefusesAnIndexBeyondTheReads) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  expect_refused(schedule, "cache_read", "the block does not read as many buffers",
                 [&] { schedule.cache_read(block, 2, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
