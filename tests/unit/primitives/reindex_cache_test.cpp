#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(ReindexCacheRead, PacksInPanels) {
  const Program before = make_gmm(4, 8, 6);
  Schedule schedule(before);
  const BlockRV c = schedule.get_block("C");
  const BlockRV packed = schedule.reindex_cache_read(c, 1, "global", "(i, j, k) -> (j // 4, k, j % 4)");
  EXPECT_EQ(schedule.block(packed).name, "B_global");
  EXPECT_NE(body_of(schedule).find("    block B_global(v0: spatial 8 = ax0, v1: spatial 6 = ax1):\n"
                                   "      B_global[v0//4, v1, v0%4] = B[v1, v0]\n"),
            std::string::npos)
      << body_of(schedule);
  EXPECT_NE(body_of(schedule).find("A[vi, vk]*B_global[vj//4, vk, vj%4]"), std::string::npos);
  expect_sound(before, schedule);
  expect_replays(before, schedule);
}

TEST(ReindexCacheRead, MayRepeatElements) {
  const Program before = make_gmm(3, 4, 5);
  Schedule schedule(before);
  schedule.reindex_cache_read(schedule.get_block("C"), 0, "global", "(i, j, k) -> (j, i, k)");
  EXPECT_NE(body_of(schedule).find("A_global[v1, v0, v2] = A[v0, v2]"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(ReindexCacheWrite, CopiesBack) {
  const Program before = make_gmm(4, 8, 6);
  Schedule schedule(before);
  schedule.reindex_cache_write(schedule.get_block("C"), 0, "global", "(i, j, k) -> (j // 4, i, j % 4)");
  EXPECT_NE(body_of(schedule).find("C[v0, v1] = C_global[v1//4, v0, v1%4]"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(ReindexCache, Refusals) {
  const auto read = [](const Program& program, const char* name, const char* map, const char* reason) {
    Schedule schedule(program);
    const BlockRV block = schedule.get_block(name);
    expect_refused(schedule, "reindex_cache_read", reason,
                   [&] { schedule.reindex_cache_read(block, 0, "global", map); });
  };
  const auto write = [](const Program& program, const char* name, const char* map, const char* reason) {
    Schedule schedule(program);
    const BlockRV block = schedule.get_block(name);
    expect_refused(schedule, "reindex_cache_write", reason,
                   [&] { schedule.reindex_cache_write(block, 0, "global", map); });
  };
  const Program gmm = make_gmm(4, 6, 5);
  read(gmm, "C", "(i, j) -> (i, j)", "the map needs one parameter for each iterator");
  read(gmm, "C", "(i, j, k) -> (k)", "the index map is not one-to-one");
  read(gmm, "C", "(i, j, k) -> (i - 1, k)", "the index map gives a negative index");
  write(gmm, "C", "(i, j, k) -> (i, j, k)", "the map uses an iterator that the access does not");
  write(gmm, "C", "(i, j, k) -> (i + j)", "the index map is not one-to-one");
  const auto one = [](const char* compute) {
    return make_program("{n: 6}", "{A: {shape: [n], dtype: f32}}", compute);
  };
  read(one("O[i<n] = inside(A[i - 1], 0)"), "O", "(i) -> (i)", "the access may lie outside the buffer");
}

TEST(ReindexCacheRead, OneOfTwoReadsOfABuffer) {
  const Program before = make_program("{n: 5, k: 3}", "{A: {shape: [n, k], dtype: i32}}",
                                      "O[i<n, j<n] = sum(r<k) A[i, r] * A[j, r]");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  const BlockRV copy = schedule.reindex_cache_read(block, 1, "local", "(i, j, k) -> (k, j)");
  EXPECT_NE(body_of(schedule).find("O[vi, vj] + A[vi, vr]*A_local[vr, vj]"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
  schedule.compute_at(copy, schedule.get_loops(block)[0]);
  expect_sound(before, schedule);
}

// A copy reads in every instance, also an unwritten element from which a select keeps the block.
TEST(ReindexCacheRead, OfALayoutWithGaps) {
  const auto gapped = [](const char* last) {
    Schedule schedule(make_program("{n: 6}", "{A: {shape: [n], dtype: i32}}",
                                   std::string("B[i<n] = A[i] + 1\n  O[i<n] = ") + last));
    schedule.transform_layout(schedule.get_block("B"), "write", 0, "(i) -> (i + 1)");
    return schedule;
  };
  Schedule guarded = gapped("inside(B[i - 1], 2)");
  const BlockRV block = guarded.get_block("O");
  expect_refused(guarded, "reindex_cache_read", "the buffer has elements that nothing writes",
                 [&] { guarded.reindex_cache_read(block, 0, "local", "(i) -> (i)"); });

  Schedule always = gapped("B[i] * 2");
  always.reindex_cache_read(always.get_block("O"), 0, "local", "(i) -> (i)");
  EXPECT_NE(body_of(always).find("B_local[v0] = B[v0 + 1]"), std::string::npos) << body_of(always);
}

TEST(ReindexCacheWrite, OfABlockThatMakesAPart) {
  Schedule schedule(
      make_program("{n: 4}", "{A: {shape: [8], dtype: i32}}", "B[i<8] = A[i] + 1\n  O[i<n] = B[i]"));
  const BlockRV block = schedule.get_block("B");
  schedule.compute_at(block, schedule.get_loops(schedule.get_block("O"))[0]);
  expect_refused(schedule, "reindex_cache_write", "the block runs conditionally",
                 [&] { schedule.reindex_cache_write(block, 0, "local", "(i) -> (i)"); });
}

TEST(ReadAt, OneOfTwoReadsOfABuffer) {
  const Program before =
      make_program("{n: 6}", "{A: {shape: [n], dtype: i32}}", "O[i<n - 1] = A[i] + A[i + 1]");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  schedule.read_at(schedule.get_loops(block)[0], block, 1, "local");
  EXPECT_NE(body_of(schedule).find("O[vi] = A[vi] + A_local[vi + 1]"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(ReadAt, CopiesWhatATileReads) {
  const Program before = make_gmm(4, 8, 6);
  Schedule schedule(before);
  const BlockRV c = schedule.get_block("C");
  const auto tiles = schedule.split(schedule.get_loops(c)[0], {2, 2});
  const BlockRV copy = schedule.read_at(tiles[0], c, 0, "local");
  EXPECT_EQ(body_of(schedule).substr(0, body_of(schedule).find("      for k")),
            "for i_0 in 0..2:\n"
            "  for ax0 in 0..2:\n"
            "    for ax1 in 0..6:\n"
            "      block A_local(v0: spatial 4 = i_0*2 + ax0, v1: spatial 6 = ax1):\n"
            "        A_local[v0, v1] = A[v0, v1]\n"
            "  for i_1 in 0..2:\n"
            "    for j in 0..8:\n")
      << body_of(schedule);
  EXPECT_EQ(schedule.block(copy).name, "A_local");
  expect_sound(before, schedule);
  expect_refused(schedule, "read_at", "the block has fewer reads",
                 [&] { schedule.read_at(tiles[0], c, 7, "local"); });
  const LoopRV other = schedule.get_loops(copy)[2];
  expect_refused(schedule, "read_at", "a consumer stands outside the loop",
                 [&] { schedule.read_at(other, c, 1, "local"); });
}

TEST(WriteAt, CopiesWhatATileFinished) {
  const Program before = make_gmm(4, 8, 6);
  Schedule schedule(before);
  const BlockRV c = schedule.get_block("C");
  const auto tiles = schedule.split(schedule.get_loops(c)[0], {2, 2});
  const BlockRV copy = schedule.write_at(tiles[0], c, 0, "local");
  EXPECT_EQ(schedule.block(copy).name, "C_local");
  EXPECT_EQ(schedule.loop(schedule.get_loops(copy)[0]).id, schedule.loop(tiles[0]).id);
  expect_sound(before, schedule);
  Schedule inner(before);
  const BlockRV block = inner.get_block("C");
  const LoopRV k = inner.get_loops(block)[2];
  expect_refused(inner, "write_at", "the loop does not finish what the block reads",
                 [&] { inner.write_at(k, block, 0, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
