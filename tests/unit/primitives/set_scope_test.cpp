#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(SetScope, ChangesTheBufferEverywhere) {
  const Program before = make_chain(4, 3);
  Schedule schedule(before);
  schedule.set_scope(schedule.get_block("B"), 0, "local");
  ASSERT_EQ(schedule.program().intermediates.size(), 1u);
  EXPECT_EQ(schedule.program().intermediates[0]->scope, "local");
  EXPECT_EQ(schedule.program().intermediates[0]->name, "B");
  expect_sound(before, schedule);
}

TEST(SetScope, RefusesAnOutput) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("C");
  expect_refused(schedule, "set_scope", "the buffer is not an intermediate of the program",
                 [&] { schedule.set_scope(block, 0, "local"); });
}

TEST(SetScope, RefusesAnIndexBeyondTheWrites) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("B");
  expect_refused(schedule, "set_scope", "the block does not have that many writes",
                 [&] { schedule.set_scope(block, -1, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
