#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

/// B blurs A along both dimensions, O blurs B; B is computed at a tile of O's rows.
Schedule rows_of_a_blur(const Program& program, int64_t tile) {
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("O"));
  const auto rows = schedule.split(loops[0], {std::nullopt, tile});
  schedule.compute_at(schedule.get_block("B"), rows[0]);
  return schedule;
}

Program blur() {
  return make_program("{n: 8, m: 5}", "{A: {shape: [n + 2, m], dtype: f32}}",
                      "B[i<n + 2, j<m] = A[i, j] * 2\n  O[i<n, j<m] = B[i, j] + B[i + 1, j] + B[i + 2, j]");
}

TEST(RollingBuffer, KeepsAWindowAndComputesWhatIsNew) {
  const Program before = blur();
  Schedule schedule = rows_of_a_blur(before, 2);
  schedule.rolling_buffer(schedule.get_block("B"), 0);
  EXPECT_EQ(body_of(schedule),
            "for i_0 in 0..4:\n"
            "  for ax0 in 0..4:\n"
            "    for ax1 in 0..5:\n"
            "      block B(vi: spatial 10 = i_0*2 + ax0, vj: spatial 5 = ax1, vi_0: opaque 4 = i_0):\n"
            "        where i_0 == 0 or 2 <= ax0\n"
            "        B[vi%4, vj] = A[vi, vj]*2.0\n"
            "  for i_1 in 0..2:\n"
            "    for j in 0..5:\n"
            "      block O(vi: spatial 8 = i_0*2 + i_1, vj: spatial 5 = j):\n"
            "        O[vi, vj] = B[vi%4, vj] + B[(vi + 1)%4, vj] + B[(vi + 2)%4, vj]\n");
  expect_sound(before, schedule);
  expect_replays(before, schedule);
}

TEST(RollingBuffer, UnderAParallelLoopAndWithVectorsInside) {
  const Program before = blur();
  Schedule schedule(before);
  const BlockRV o = schedule.get_block("O");
  const auto rows = schedule.split(schedule.get_loops(o)[0], {2, 4, 1});
  const BlockRV b = schedule.get_block("B");
  schedule.compute_at(b, rows[1]);
  schedule.rolling_buffer(b, 0);
  schedule.parallel(rows[0]);
  schedule.vectorize(schedule.get_loops(b)[3]);
  expect_sound(before, schedule);
  const auto inner = schedule.get_loops(b);
  expect_refused(schedule, "parallel", "a block below has opaque iterators",
                 [&] { schedule.parallel(rows[1]); });
  expect_refused(schedule, "reorder", "a block below has opaque iterators",
                 [&] { schedule.reorder({inner[3], inner[2]}); });
}

TEST(RollingBuffer, OfAReductionAndOfAChain) {
  const Program before = make_program(
      "{n: 6}", "{A: {shape: [n + 4, 3], dtype: i32}}",
      "S[i<n + 4] = sum(k<3) A[i, k]\n  T[i<n + 2] = S[i] + S[i + 2]\n  O[i<n] = T[i] * T[i + 2]");
  Schedule schedule(before);
  const LoopRV row = schedule.get_loops(schedule.get_block("O"))[0];
  schedule.compute_at(schedule.get_block("T"), row);
  schedule.compute_at(schedule.get_block("S"), row);
  const BlockRV s = schedule.get_block("S");
  schedule.rolling_buffer(s, 0);
  schedule.rolling_buffer(schedule.get_block("T"), 0);
  expect_sound(before, schedule);
  expect_refused(schedule, "decompose_reduction", "the loop carries an opaque iterator",
                 [&] { schedule.decompose_reduction(s, row); });
  schedule.decompose_reduction(s, schedule.get_loops(s)[1]);
  expect_sound(before, schedule);
}

TEST(RollingBuffer, PaddedRows) {
  const Program before = make_program(
      "{n: 6}", "{A: {shape: [n], dtype: f32}}",
      "B[i<n] = A[i] + 1\n  P[i<n + 2] = inside(B[i - 1], 0)\n  O[i<n] = P[i] + P[i + 1] + P[i + 2]");
  Schedule schedule(before);
  const auto tiles = schedule.split(schedule.get_loops(schedule.get_block("O"))[0], {3, 2});
  schedule.compute_at(schedule.get_block("P"), tiles[0]);
  schedule.compute_at(schedule.get_block("B"), tiles[0]);
  schedule.rolling_buffer(schedule.get_block("P"), 0);
  schedule.rolling_buffer(schedule.get_block("B"), 0);
  expect_sound(before, schedule);
}

TEST(RollingBuffer, WhatReadsItStays) {
  const Program before = make_program(
      "{n: 8}", "{A: {shape: [n + 2], dtype: f32}}",
      "B[i<n + 2] = A[i] + 1\n  C[i<n] = B[i] + B[i + 2]\n  D[i<n] = C[i] * 2\n  O[i<n] = D[i] + C[i]");
  Schedule schedule(before);
  const BlockRV c = schedule.get_block("C");
  const auto tiles = schedule.split(schedule.get_loops(c)[0], {2, 4});
  schedule.compute_at(schedule.get_block("B"), tiles[0]);
  schedule.rolling_buffer(schedule.get_block("B"), 0);
  const char* stays = "an input of the block is produced in a fixed order";
  expect_refused(schedule, "compute_inline", stays, [&] { schedule.compute_inline(c); });
  schedule.reverse_compute_inline(schedule.get_block("O"));
  const LoopRV later = schedule.get_loops(schedule.get_block("D"))[0];
  expect_refused(schedule, "compute_at", stays, [&] { schedule.compute_at(c, later); });
  expect_sound(before, schedule);
}

TEST(RollingBuffer, Refusals) {
  const auto refused = [](Schedule& schedule, const char* name, const char* reason, int index = 0) {
    const BlockRV block = schedule.get_block(name);
    expect_refused(schedule, "rolling_buffer", reason, [&] { schedule.rolling_buffer(block, index); });
  };
  Schedule apart(blur());
  refused(apart, "B", "the block shares no loop with its consumers");
  refused(apart, "B", "the block has fewer writes", 1);
  refused(apart, "O", "the block writes an output of the program");

  Schedule tiled = rows_of_a_blur(blur(), 2);
  tiled.unroll(tiled.get_loops(tiled.get_block("O"))[0]);
  refused(tiled, "B", "the loop is not serial");

  const auto at_row = [](const char* compute) {
    Schedule schedule(make_program("{n: 6}", "{A: {shape: [n, n], dtype: f32}}", compute));
    schedule.compute_at(schedule.get_block("B"), schedule.get_loops(schedule.get_block("O"))[0]);
    return schedule;
  };
  Schedule apart_rows = at_row("B[i<n, j<n] = A[i, j] + 1\n  O[i<n, j<n] = B[i, n - 1 - j]");
  refused(apart_rows, "B", "iterations of the loop share no element of the buffer");
  Schedule backwards =
      at_row("B[i<n, j<n] = A[i, j] + 1\n  O[i<n - 1, j<n] = B[n - 2 - i, j] + B[n - 1 - i, j]");
  refused(backwards, "B", "what an iteration of the loop writes does not move along one dimension");
  Schedule diagonal = at_row("B[i<n, j<n] = A[i, j] + 1\n  O[i<n - 1] = B[i, i] + B[i + 1, i + 1]");
  refused(diagonal, "B", "what an iteration of the loop writes does not move along one dimension");
}

}  // namespace
}  // namespace tunesmith::test
