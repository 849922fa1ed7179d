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

/// O[i, j] = sum over k of A[i, k] * A[j, k] * W[k, j]: three reads of two buffers.
Program make_weighted_gram() {
  return make_program("{n: 4, k: 3}", "{A: {shape: [n, k], dtype: i32}, W: {shape: [k, n], dtype: i32}}",
                      "O[i<n, j<n] = sum(r<k) A[i, r] * A[j, r] * W[r, j]");
}

TEST(CacheRead, OneOfTwoReadsOfABuffer) {
  const Program before = make_weighted_gram();
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  schedule.cache_read(block, 1, "local");
  EXPECT_NE(body_of(schedule).find("O[vi, vj] + A[vi, vr]*A_local[vj, vr]*W[vr, vj]"), std::string::npos)
      << body_of(schedule);
  schedule.cache_read(block, 0, "global");
  EXPECT_NE(body_of(schedule).find("O[vi, vj] + A_global[vi, vr]*A_local[vj, vr]*W[vr, vj]"),
            std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(CacheRead, TheBufferAfterOneThatIsReadTwice) {
  const Program before = make_weighted_gram();
  Schedule schedule(before);
  EXPECT_EQ(schedule.block(schedule.cache_read(schedule.get_block("O"), 2, "local")).name, "W_local");
  expect_sound(before, schedule);
}

TEST(CacheRead, LoadsAtEqualIndicesAreOneRead) {
  const Program before = make_program("{n: 4}", "{A: {shape: [n], dtype: i32}, B: {shape: [n], dtype: i32}}",
                                      "O[i<n] = A[i] * A[i] + B[i]");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  EXPECT_EQ(schedule.block(schedule.cache_read(block, 1, "local")).name, "B_local");
  schedule.cache_read(block, 0, "local");
  EXPECT_NE(body_of(schedule).find("O[vi] = A_local[vi]*A_local[vi] + B_local[vi]"), std::string::npos)
      << body_of(schedule);
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
  expect_refused(schedule, "cache_read", "the block does not have that many reads",
                 [&] { schedule.cache_read(block, 2, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
