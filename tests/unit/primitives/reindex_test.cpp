#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(Reindex, AReadInTheOrderOfTheIterators) {
  const Program before = make_conv(4, 2, 2, 1, 0, 1);
  Schedule schedule(before);
  const BlockRV copy = schedule.reindex(schedule.get_block("O"), "read", 0);
  EXPECT_EQ(schedule.block(copy).name, "P_reindex");
  EXPECT_NE(text_of(schedule).find("P_reindex: i32[3, 3, 2, 2, 2]"), std::string::npos) << text_of(schedule);
  EXPECT_NE(body_of(schedule).find("P_reindex[v0, v1, v2, v3, v4] = P[v0 + v2, v1 + v3, v4]"),
            std::string::npos)
      << body_of(schedule);
  EXPECT_NE(body_of(schedule).find("P_reindex[vy, vx, vky, vkx, vc]*W[vky, vkx, vc, vf]"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(Reindex, EveryShapeOfAConvolution) {
  for (const int64_t stride : {1, 2}) {
    for (const int64_t dilation : {1, 2}) {
      const Program before = make_conv(7, 2, 3, stride, 1, dilation);
      Schedule schedule(before);
      const BlockRV block = schedule.get_block("O");
      const BlockRV copy = schedule.reindex(block, "read", 0);
      schedule.reindex(block, "read", 1);
      schedule.reindex(block, "write", 0);
      expect_sound(before, schedule);
      schedule.compute_at(copy, schedule.get_loops(block)[1]);
      expect_sound(before, schedule);
    }
  }
}

TEST(Reindex, ATransposedWrite) {
  const Program before = make_program("{n: 3, m: 4, k: 5}", "{A: {shape: [n, k], dtype: i32}}",
                                      "O[i<n, j<m] = sum(r<k) A[i, r] * A[i, r]");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  schedule.reorder_block_iter_var(block, {1, 0, 2});
  const BlockRV copy = schedule.reindex(block, "write", 0);
  EXPECT_NE(text_of(schedule).find("O_reindex: i32[4, 3]"), std::string::npos) << text_of(schedule);
  EXPECT_NE(body_of(schedule).find("O[v1, v0] = O_reindex[v0, v1]"), std::string::npos) << body_of(schedule);
  expect_sound(before, schedule);
  schedule.reverse_compute_at(copy, schedule.get_loops(block)[0]);
  expect_sound(before, schedule);
}

TEST(Reindex, OneOfTwoReadsOfABuffer) {
  const Program before =
      make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}", "O[i<n, j<n] = A[i, j] + A[j, i]");
  Schedule schedule(before);
  schedule.reindex(schedule.get_block("O"), "read", 1);
  EXPECT_NE(body_of(schedule).find("O[vi, vj] = A[vi, vj] + A_reindex[vi, vj]"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(Reindex, RefusesToWriteInTwoWays) {
  Program program = make_program("{n: 4}", "{A: {shape: [n], dtype: f32}}", "O[i<n, j<2] = A[i]");
  Block& block = *program.find_block("O");
  const auto& first = *block.body()->as<Store>();
  auto both = std::make_unique<Seq>();
  for (const int64_t column : {0, 1})
    both->append(
        std::make_unique<Store>(first.buffer, std::vector<Expr>{first.indices[0], column}, first.value));
  block.set_body(std::move(both));
  Schedule schedule(program);
  const BlockRV written = schedule.get_block("O");
  expect_refused(schedule, "reindex", "the block accesses the buffer in more than one way",
                 [&] { schedule.reindex(written, "write", 0); });
}

TEST(Reindex, RefusesAGuardedAccess) {
  Schedule schedule(make_conv(4, 2, 3, 1, 1, 1));
  const BlockRV block = schedule.get_block("P");
  expect_refused(schedule, "reindex", "the access may lie outside the buffer",
                 [&] { schedule.reindex(block, "read", 0); });
}

TEST(Reindex, RefusesASecondWriter) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  schedule.decompose_reduction(block, schedule.get_loops(block)[2]);
  expect_refused(schedule, "reindex", "the block is not the only writer of its buffer",
                 [&] { schedule.reindex(block, "write", 0); });
}

TEST(Reindex, RefusesInputsFromTheSameNest) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV c = schedule.get_block("C");
  const BlockRV b = schedule.get_block("B");
  schedule.compute_at(b, schedule.get_loops(c)[0]);
  expect_refused(schedule, "reindex", "a writer of the buffer stands in the loop nest of the reader",
                 [&] { schedule.reindex(c, "read", 0); });
  expect_refused(schedule, "reindex", "a reader of the buffer stands in the loop nest of its writer",
                 [&] { schedule.reindex(b, "write", 0); });
  expect_refused(schedule, "cache_read", "a writer of the buffer stands in the loop nest of the reader",
                 [&] { schedule.cache_read(c, 0, "local"); });
  expect_refused(schedule, "cache_write", "a reader of the buffer stands in the loop nest of its writer",
                 [&] { schedule.cache_write(b, 0, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
