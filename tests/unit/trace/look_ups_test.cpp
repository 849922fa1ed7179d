// get_block, get_loops, get_child_blocks, get_producers, get_consumers, get_output_blocks, handle.
#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

TEST(LookUps, FindTheirWayThroughAProgram) {
  const Program program = test::make_chain(4, 2);
  Schedule schedule(program);
  const BlockRV b = schedule.get_block("B");
  const BlockRV c = schedule.handle(*schedule.program().find_block("C"));
  const auto names = [&](const std::vector<BlockRV>& blocks) {
    std::string all;
    for (const BlockRV& block : blocks) all += schedule.block(block).name;
    return all;
  };
  EXPECT_EQ(names({b, c}), "BC");
  EXPECT_EQ(names(schedule.get_producers(c)), "B");
  EXPECT_EQ(names(schedule.get_producers(b)), "");
  EXPECT_EQ(names(schedule.get_consumers(b)), "C");
  EXPECT_EQ(names(schedule.get_consumers(c)), "");
  EXPECT_EQ(names(schedule.get_output_blocks()), "C");
  const auto loops = schedule.get_loops(c);
  ASSERT_EQ(loops.size(), 2U);
  EXPECT_EQ(schedule.loop(loops[0]).const_extent(), 4);
  EXPECT_EQ(schedule.loop(loops[1]).const_extent(), 2);
  EXPECT_EQ(names(schedule.get_child_blocks(loops[0])), "C");
  test::expect_replays(program, schedule);
}

TEST(LookUps, Refusals) {
  const Program program = test::make_chain(4, 2);
  Schedule schedule(program);
  test::expect_refused(schedule, "get_block", "unknown block", [&] { schedule.get_block("D"); });
  const auto loops = schedule.get_loops(schedule.get_block("B"));
  schedule.split(loops[0], {2, 2});
  test::expect_refused(schedule, "get_child_blocks", "the loop no longer exists",
                       [&] { schedule.get_child_blocks(loops[0]); });
  const BlockRV gone = schedule.get_block("B");
  schedule.compute_inline(gone);
  test::expect_refused(schedule, "get_loops", "the block no longer exists",
                       [&] { schedule.get_loops(gone); });
  const LoopRV root = schedule.sample_compute_location(schedule.get_block("C"));
  test::expect_refused(schedule, "parallel", "the location is not a loop", [&] { schedule.parallel(root); });
}

}  // namespace
}  // namespace tunesmith
