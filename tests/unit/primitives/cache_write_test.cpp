#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(CacheWrite, AReductionAccumulatesInTheCache) {
  const Program before = make_gmm(4, 3, 5);
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("C");
  const BlockRV copy = schedule.cache_write(block, 0, "register");
  EXPECT_EQ(schedule.block(copy).name, "C_register");
  EXPECT_EQ(body_of(schedule),
            "for i in 0..4:\n"
            "  for j in 0..3:\n"
            "    for k in 0..5:\n"
            "      block C(vi: spatial 4 = i, vj: spatial 3 = j, vk: reduction 5 = k):\n"
            "        init:\n"
            "          C_register[vi, vj] = 0.0\n"
            "        C_register[vi, vj] = C_register[vi, vj] + A[vi, vk]*B[vk, vj]\n"
            "for ax0 in 0..4:\n"
            "  for ax1 in 0..3:\n"
            "    block C_register(v0: spatial 4 = ax0, v1: spatial 3 = ax1):\n"
            "      C[v0, v1] = C_register[v0, v1]\n");
  ASSERT_EQ(schedule.program().intermediates.size(), 1u);
  EXPECT_EQ(schedule.program().intermediates[0]->scope, "register");
  expect_sound(before, schedule);
}

TEST(CacheWrite, AnIntermediateIsReadFromTheOldBuffer) {
  const Program before = make_conv(5, 2, 3, 1, 1, 1);
  Schedule schedule(before);
  schedule.cache_write(schedule.get_block("P"), 0, "local");
  expect_sound(before, schedule);
  schedule.cache_write(schedule.get_block("O"), 0, "local");
  schedule.cache_write(schedule.get_block("O"), 0, "local");
  EXPECT_NE(schedule.program().find_block("O_local_local"), nullptr);
  expect_sound(before, schedule);
}

TEST(CacheWrite, RefusesAnIndexBeyondTheWrites) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  expect_refused(schedule, "cache_write", "the block does not have that many writes",
                 [&] { schedule.cache_write(block, 1, "local"); });
}

TEST(CacheWrite, RefusesASecondWriter) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  schedule.decompose_reduction(block, schedule.get_loops(block)[2]);
  expect_refused(schedule, "cache_write", "the block is not the only writer of its buffer",
                 [&] { schedule.cache_write(block, 0, "local"); });
}

TEST(CacheWrite, RefusesAPartlyWrittenBuffer) {
  Program program = make_chain(4, 3);
  Block* block = program.find_block("B");
  block->iters[1].extent = 2;
  block->parent->as<Loop>()->extent = 2;
  Schedule schedule(program);
  const BlockRV handle = schedule.get_block("B");
  expect_refused(schedule, "cache_write", "the block does not write every element of its buffer",
                 [&] { schedule.cache_write(handle, 0, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
