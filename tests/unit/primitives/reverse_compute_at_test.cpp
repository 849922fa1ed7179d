#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// A gmm tiled twice in i and j and once in k; the loops in the order of the paper's figure.
struct Tiled {
  explicit Tiled(const Program& program, int64_t ti, int64_t tj) : schedule(program) {
    block = schedule.get_block("C");
    copy = schedule.cache_write(block, 0, "local");
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    const std::vector<LoopRV> i = schedule.split(loops[0], {std::nullopt, 2, ti});
    const std::vector<LoopRV> j = schedule.split(loops[1], {std::nullopt, 2, tj});
    const std::vector<LoopRV> k = schedule.split(loops[2], {std::nullopt, 2});
    order = {i[0], j[0], i[1], j[1], k[0], k[1], i[2], j[2]};
    schedule.reorder(order);
  }
  Schedule schedule;
  BlockRV block;
  BlockRV copy;
  std::vector<LoopRV> order;
};

TEST(ReverseComputeAt, ATileIsCopiedByExactLoops) {
  const Program before = make_gmm(8, 16, 4);
  Tiled tiled(before, 2, 4);
  tiled.schedule.reverse_compute_at(tiled.copy, tiled.order[3]);
  EXPECT_NE(body_of(tiled.schedule)
                .find("        for ax0 in 0..2:\n"
                      "          for ax1 in 0..4:\n"
                      "            block C_local(v0: spatial 8 = i_0*4 + i_1*2 + ax0, v1: spatial 16 = "
                      "j_0*8 + j_1*4 + ax1):\n"
                      "              C[v0, v1] = C_local[v0, v1]\n"),
            std::string::npos)
      << body_of(tiled.schedule);
  EXPECT_EQ(body_of(tiled.schedule).find("where"), std::string::npos);
  expect_sound(before, tiled.schedule);
}

TEST(ReverseComputeAt, AtEveryLoopOutsideTheReduction) {
  for (const bool ragged : {false, true}) {
    const Program before = ragged ? make_gmm(7, 13, 5) : make_gmm(8, 16, 4);
    for (size_t at = 0; at < 8; ++at) {
      Tiled tiled(before, 2, 4);
      if (at >= 4) {
        expect_refused(tiled.schedule, "reverse_compute_at", "the loop does not finish what the block reads",
                       [&] { tiled.schedule.reverse_compute_at(tiled.copy, tiled.order[at]); });
        continue;
      }
      tiled.schedule.reverse_compute_at(tiled.copy, tiled.order[at]);
      expect_sound(before, tiled.schedule);
      tiled.schedule.decompose_reduction(tiled.block, tiled.order[4]);
      expect_sound(before, tiled.schedule);
      tiled.schedule.parallel(tiled.order[0]);
      expect_sound(before, tiled.schedule);
    }
  }
}

TEST(ReverseComputeAt, AfterTheReductionWasDecomposed) {
  const Program before = make_gmm(6, 8, 5);
  Tiled tiled(before, 3, 2);
  tiled.schedule.decompose_reduction(tiled.block, tiled.order[4]);
  tiled.schedule.reverse_compute_at(tiled.copy, tiled.order[3]);
  expect_sound(before, tiled.schedule);
}

TEST(ReverseComputeAt, AnEpilogueFollowsTheCopy) {
  const Program before = make_program("{n: 9, m: 8, k: 5}",
                                      "{A: {shape: [n, k], dtype: i32}, B: {shape: [k, m], dtype: i32}, "
                                      "D: {shape: [m], dtype: i32}}",
                                      "E[j<m] = D[j] * 2\n"
                                      "  C[i<n, j<m] = sum(r<k) A[i, r] * B[r, j]\n"
                                      "  O[j<m, i<n] = max(C[i, j] + E[j], 0)");
  for (size_t at = 0; at < 4; ++at) {
    Tiled tiled(before, 2, 2);
    tiled.schedule.reverse_compute_at(tiled.copy, tiled.order[at]);
    tiled.schedule.reverse_compute_at(tiled.schedule.get_block("O"), tiled.order[at]);
    expect_sound(before, tiled.schedule);
  }
}

TEST(ReverseComputeAt, AFusedLoop) {
  const Program before = make_chain(6, 7);
  Schedule schedule(before);
  const LoopRV fused = schedule.fuse(schedule.get_loops(schedule.get_block("B")));
  schedule.reverse_compute_at(schedule.get_block("C"), fused);
  EXPECT_EQ(schedule.program().root().children().size(), 1u);
  expect_sound(before, schedule);
}

TEST(ReverseComputeAt, AReductionOfWhatTheLoopMakes) {
  const Program before = make_program("{n: 5, m: 6}", "{A: {shape: [n, m], dtype: i32}}",
                                      "B[i<n, j<m] = A[i, j] * 3\n  O[i<n] = sum(r<m) B[i, r]");
  Schedule schedule(before);
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("B"));
  const BlockRV out = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_at",
                 "an iteration of the loop gives a part of the block's reduction",
                 [&] { schedule.reverse_compute_at(out, loops[1]); });
  schedule.reverse_compute_at(out, loops[0]);
  expect_sound(before, schedule);
}

TEST(ReverseComputeAt, APredicateOfAnInnerSplitIsCarried) {
  const Program before = make_chain(16, 2);
  Schedule schedule(before);
  const std::vector<LoopRV> i =
      schedule.split(schedule.get_loops(schedule.get_block("B"))[0], {std::nullopt, 8});
  const std::vector<LoopRV> inner = schedule.split(i[1], {std::nullopt, 3});
  const BlockRV out = schedule.get_block("C");
  // Under inner[0], a condition other than the domain's end limits the last tile of three to two.
  expect_refused(schedule, "reverse_compute_at", "cannot determine what an iteration of the loop writes",
                 [&] { schedule.reverse_compute_at(out, inner[0]); });
  Schedule other = schedule.clone();
  other.reverse_compute_at(out, inner[1]);
  expect_sound(before, other);
  schedule.reverse_compute_at(out, i[0]);
  expect_sound(before, schedule);
}

TEST(ReverseComputeAt, APredicateOfWholeTilesIsCarried) {
  const Program before = make_gmm(32, 8, 4);
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("C");
  const BlockRV copy = schedule.cache_write(block, 0, "local");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopRV> i = schedule.split(loops[0], {std::nullopt, 12});
  const std::vector<LoopRV> tile = schedule.split(i[1], {3, 4});
  schedule.reorder({i[0], loops[2], tile[0], tile[1], loops[1]});
  // i_0*12 + i_1_0*4 + i_1_1 < 32 is equivalent.
  ASSERT_NE(body_of(schedule).find("where i_0*3 + i_1_0 < 8"), std::string::npos) << body_of(schedule);
  schedule.reverse_compute_at(copy, i[0]);
  expect_sound(before, schedule);
}

TEST(ReverseComputeAt, RefusesAHalo) {
  Schedule schedule(make_program("{n: 8}", "{A: {shape: [n], dtype: i32}}",
                                 "B[i<n] = A[i] + 1\n  O[i<n - 1] = B[i] + B[i + 1]"));
  const BlockRV out = schedule.get_block("O");
  const LoopRV loop = schedule.get_loops(schedule.get_block("B"))[0];
  expect_refused(schedule, "reverse_compute_at", "the block reads more than an iteration of the loop writes",
                 [&] { schedule.reverse_compute_at(out, loop); });
}

TEST(ReverseComputeAt, RefusesPaddingThatReadsNothing) {
  Schedule schedule(make_program("{n: 8}", "{A: {shape: [n], dtype: i32}}",
                                 "B[i<n] = A[i] + 1\n  O[i<n + 2] = inside(B[i - 1], 0)"));
  const BlockRV out = schedule.get_block("O");
  const LoopRV loop = schedule.get_loops(schedule.get_block("B"))[0];
  expect_refused(schedule, "reverse_compute_at", "the block has iterations that read nothing of its producer",
                 [&] { schedule.reverse_compute_at(out, loop); });
}

TEST(ReverseComputeAt, RefusesWithoutProducerThere) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV first = schedule.get_block("B");
  const LoopRV loop = schedule.get_loops(schedule.get_block("C"))[0];
  expect_refused(schedule, "reverse_compute_at", "no producer of the block stands under the loop",
                 [&] { schedule.reverse_compute_at(first, loop); });
}

TEST(ReverseComputeAt, RefusesWhatWouldRunTwice) {
  // Every i reads all of D, so each i computes it again.
  const Program before = make_program("{n: 4}", "{A: {shape: [n, n], dtype: i32}}",
                                      "C[i<n, j<n] = A[i, j] + 1\n"
                                      "  O[i<n, j<n, k<n] = C[i, j] * 2");
  Schedule schedule(before);
  const BlockRV c = schedule.get_block("C");
  const LoopRV j = schedule.get_loops(c)[1];
  schedule.reverse_compute_at(schedule.get_block("O"), j);
  expect_sound(before, schedule);
}

}  // namespace
}  // namespace tunesmith::test
