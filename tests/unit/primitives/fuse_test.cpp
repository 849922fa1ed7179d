#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

using test::expect_refused;

TEST(Fuse, OneLoopIsItself) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const LoopRV same = schedule.fuse({loops[1]});
  EXPECT_EQ(schedule.location(same), schedule.location(loops[1]));
}

TEST(Fuse, Refusals) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "fuse", "there are no loops", [&] { schedule.fuse({}); });
  expect_refused(schedule, "fuse", "a loop is not the only child of the one before",
                 [&] { schedule.fuse({loops[0], loops[2]}); });
  expect_refused(schedule, "fuse", "a loop is not the only child of the one before",
                 [&] { schedule.fuse({loops[1], loops[0]}); });
  {
    Program bounded = test::make_gmm(6, 8, 4);
    const std::vector<Loop*> nest = loops_above(*bounded.find_block("C"));
    nest[1]->extent = nest[0]->var + 1;
    Schedule triangle(bounded);
    const auto handles = triangle.get_loops(triangle.get_block("C"));
    expect_refused(triangle, "fuse", "the loop's range is not constant from 0",
                   [&] { triangle.fuse({handles[0], handles[1]}); });
    expect_refused(triangle, "reorder", "the loop's range is not constant from 0",
                   [&] { triangle.reorder({handles[1], handles[0]}); });
  }
  {
    Schedule huge(test::make_gmm(int64_t{1} << 30, int64_t{1} << 30, int64_t{1} << 30));
    const auto handles = huge.get_loops(huge.get_block("C"));
    expect_refused(huge, "fuse", "the product of the extents is too large", [&] { huge.fuse(handles); });
  }
  schedule.parallel(loops[0]);
  expect_refused(schedule, "fuse", "the loop is not serial", [&] { schedule.fuse({loops[0], loops[1]}); });
}

}  // namespace
}  // namespace tunesmith
