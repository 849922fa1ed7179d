#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

TEST(AddUnitLoop, StandsAroundTheBlock) {
  const Program program = test::make_chain(4, 2);
  Schedule schedule(program);
  const LoopRV loop = schedule.add_unit_loop(schedule.get_block("B"));
  EXPECT_EQ(schedule.loop(loop).const_extent(), 1);
  EXPECT_EQ(test::body_of(schedule).find("for i in 0..4:\n"
                                         "  for j in 0..2:\n"
                                         "    for u in 0..1:\n"
                                         "      block B(vi: spatial 4 = i, vj: spatial 2 = j):\n"),
            0U);
  test::expect_sound(program, schedule, 1e-5);
}

}  // namespace
}  // namespace tunesmith
