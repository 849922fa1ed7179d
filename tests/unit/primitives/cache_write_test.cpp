#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

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
  expect_refused(schedule, "cache_write", "the block has fewer writes",
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
