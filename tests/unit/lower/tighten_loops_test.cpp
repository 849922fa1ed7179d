#include <tunesmith/lower/lower.h>

#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

std::string lowered(const Schedule& schedule) {
  return to_string(lower(schedule.program(), LowerOptions{}).program);
}

/// The sum of a convolution with inlined padding, a separate init and outer taps.
Schedule taps_outside(const Program& before, BlockRV* out, std::vector<LoopRV>* loops) {
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("P"));
  *out = schedule.get_block("O");
  *loops = schedule.get_loops(*out);
  schedule.decompose_reduction(*out, (*loops)[0]);
  return schedule;
}

TEST(TightenLoops, TapsOnPaddingAreSkipped) {
  for (const int64_t stride : {1, 2}) {
    for (const int64_t dilation : {1, 2}) {
      const Program before = make_conv(7, 2, 3, stride, 2, dilation);
      BlockRV out;
      std::vector<LoopRV> loops;
      Schedule schedule = taps_outside(before, &out, &loops);
      // y, x, f, ky, kx, c: the taps are now inside of the loops on which they depend.
      const std::string text = lowered(schedule);
      EXPECT_EQ(text.find("select"), std::string::npos) << text;
      EXPECT_EQ(text.find(" if "), std::string::npos) << text;
      expect_sound(before, schedule);
    }
  }
}

TEST(TightenLoops, WhatTheTileMovesIsLeftToTheSelect) {
  const Program before = make_conv(7, 2, 3, 1, 1, 1);
  BlockRV out;
  std::vector<LoopRV> loops;
  Schedule schedule = taps_outside(before, &out, &loops);
  schedule.reorder({loops[3], loops[4], loops[5], loops[1], loops[2]});
  schedule.unroll(loops[1]);
  schedule.vectorize(loops[2]);
  const std::string text = lowered(schedule);
  // Rows are skipped; the columns of the unrolled tile differ from tap to tap.
  EXPECT_NE(text.find("for ky in max(1 - y, 0).."), std::string::npos) << text;
  EXPECT_NE(text.find("select(1 <= x + kx and x + kx < 8"), std::string::npos) << text;
  expect_sound(before, schedule);
}

TEST(TightenLoops, APieceOnPaddingDoesNothing) {
  const Program before = make_conv(6, 2, 3, 1, 1, 1);
  BlockRV out;
  std::vector<LoopRV> loops;
  Schedule schedule = taps_outside(before, &out, &loops);
  schedule.reorder({loops[3], loops[4], loops[1]});
  schedule.loop_partition(loops[4], {int64_t{1}, int64_t{2}});
  const auto columns = schedule.loop_partition(loops[1], {int64_t{1}});
  const std::string left = schedule.block(schedule.get_child_blocks(columns[0])[0]).name;
  EXPECT_EQ(left, "O");
  EXPECT_NE(body_of(schedule).find("O[vy, 0, vf] = O[vy, 0, vf]"), std::string::npos) << body_of(schedule);
  const std::string text = lowered(schedule);
  EXPECT_NE(text.find("pass"), std::string::npos) << text;
  expect_sound(before, schedule);
}

TEST(TightenLoops, PredicatesOfUnevenTiles) {
  const Program before = make_chain(10, 7);
  Schedule schedule(before);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  schedule.split(loops[0], {std::nullopt, 4});
  schedule.split(loops[1], {std::nullopt, 4});
  const std::string text = lowered(schedule);
  EXPECT_EQ(text.find(" if "), std::string::npos) << text;
  expect_sound(before, schedule);
}

TEST(TightenLoops, AnInitInTheLoopIsNotSkipped) {
  const Program before = make_conv(5, 2, 3, 1, 1, 1);
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("P"));
  EXPECT_NE(lowered(schedule).find("select"), std::string::npos);
  expect_sound(before, schedule);
}

TEST(TightenLoops, MaximaSkipWhatTheyDoNotHeed) {
  const Program before =
      make_program("{n: 6}", "{X: {shape: [n], dtype: f32}}",
                   "P[i<n + 2] = inside(X[i - 1], lowest(f32))\n  O[i<n] = max(k<3) P[i + k]");
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("P"));
  const BlockRV out = schedule.get_block("O");
  schedule.decompose_reduction(out, schedule.get_loops(out)[0]);
  const std::string text = lowered(schedule);
  EXPECT_EQ(text.find("select"), std::string::npos) << text;
  expect_sound(before, schedule);
}

// The value where the condition fails is not zero: it must be added.
TEST(TightenLoops, PaddingThatCountsIsAdded) {
  const Program before =
      make_program("{n: 6}", "{X: {shape: [n], dtype: f32}}",
                   "P[i<n + 2] = inside(X[i - 1], 0.5)\n  O[i<n] = sum(k<3) P[i + k] * X[i]");
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("P"));
  const BlockRV out = schedule.get_block("O");
  schedule.decompose_reduction(out, schedule.get_loops(out)[0]);
  EXPECT_NE(lowered(schedule).find("select"), std::string::npos);
  expect_sound(before, schedule);
}

// The accumulator is loaded before its loop, which the element outside the buffer must not reach.
TEST(TightenLoops, AnAccumulatorUnderAConditionStaysThere) {
  const Program before =
      make_program("{n: 5}", "{X: {shape: [n], dtype: f32}}", "O[i<n, j<1] = max(k<3) X[(i + k) % n]");
  Schedule schedule(before);
  const BlockRV out = schedule.get_block("O");
  const auto loops = schedule.get_loops(out);
  schedule.split(loops[1], {5, 5});
  schedule.decompose_reduction(out, loops[0]);
  expect_sound(before, schedule);
}

// The number of rows in the last tile is known when compiling, so no mask is needed.
TEST(TightenLoops, TheLastTileAccumulatesJustItsRows) {
  const Program before = make_gmm(7, 4, 4);
  Schedule schedule(before);
  const BlockRV out = schedule.get_block("C");
  const auto loops = schedule.get_loops(out);
  const auto rows = schedule.split(loops[0], {std::nullopt, 3});
  schedule.reorder({rows[0], loops[2], rows[1]});
  schedule.decompose_reduction(out, loops[2]);
  schedule.unroll(rows[1]);
  schedule.loop_partition(rows[0], {int64_t{2}});
  const std::string text = lowered(schedule);
  EXPECT_NE(text.find("  for j in 0..4:\n    C[j + 24] = 0.0"), std::string::npos) << text;
  EXPECT_EQ(text.find("where"), std::string::npos) << text;
  expect_sound(before, schedule);
}

TEST(TightenLoops, VectorsWithoutALaneAreNotComputed) {
  const Program before = make_gmm(2, 5, 4);
  Schedule schedule(before);
  const BlockRV out = schedule.get_block("C");
  const auto loops = schedule.get_loops(out);
  const auto columns = schedule.split(loops[1], {1, 4, 2});
  schedule.reorder({loops[2], columns[1], columns[2]});
  schedule.decompose_reduction(out, loops[2]);
  schedule.unroll(columns[1]);
  schedule.vectorize(columns[2]);
  const std::string text = lowered(schedule);
  EXPECT_NE(text.find("for j_1 in 0..3 unrolled"), std::string::npos) << text;
  expect_sound(before, schedule);
}

// The first lane for which x < 20 holds is neither the first lane nor the last one.
TEST(TightenLoops, LanesThatRiseAndFallLeaveTheLoopInside) {
  const Program before = make_program("{}", "{A: {shape: [20], dtype: f32}}",
                                      "P[x<20] = A[x] * 2\n"
                                      "  O[v<4, r<8] = inside(P[v*8 - v//2*32 + 16 + r], 0)");
  Schedule schedule(before);
  const LoopRV lanes = schedule.get_loops(schedule.get_block("O"))[0];
  schedule.compute_at(schedule.get_block("P"), lanes);
  schedule.vectorize(lanes);
  expect_sound(before, schedule);
}

// A row of outputs in registers, whose columns are limited to those that each column of taps meets.
TEST(TightenLoops, PiecesOfTheTapsSkipRowsTogetherAndColumnsEach) {
  const Program before = make_conv(7, 2, 3, 1, 1, 1);
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("P"));
  const BlockRV out = schedule.get_block("O");
  const BlockRV copy = schedule.cache_write(out, 0, "local");
  const auto loops = schedule.get_loops(out);
  schedule.reorder({loops[0], loops[3], loops[4], loops[5], loops[1], loops[2]});
  schedule.reverse_compute_at(copy, loops[0]);
  const BlockRV init = schedule.decompose_reduction(out, loops[3]);
  for (const BlockRV block : {out, init, copy}) {
    const auto around = schedule.get_loops(block);
    schedule.unroll(around[around.size() - 2]);
    schedule.vectorize(around.back());
  }
  schedule.loop_partition(loops[4], {int64_t{1}, int64_t{2}});
  const std::string text = lowered(schedule);
  EXPECT_EQ(text.find("select"), std::string::npos) << text;
  EXPECT_NE(text.find("for x in 1..7 unrolled"), std::string::npos) << text;
  EXPECT_NE(text.find("for x in 0..6 unrolled"), std::string::npos) << text;
  EXPECT_NE(text.find("O_local: i32[1, 7, 4] register"), std::string::npos) << text;
  expect_sound(before, schedule);
}

}  // namespace
}  // namespace tunesmith::test
