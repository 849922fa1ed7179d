#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(SetScope, RefusesAnOutput) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("C");
  expect_refused(schedule, "set_scope", "the buffer is not an intermediate of the program",
                 [&] { schedule.set_scope(block, 0, "local"); });
}

TEST(SetScope, RefusesAnIndexBeyondTheWrites) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("B");
  expect_refused(schedule, "set_scope", "the block has fewer writes",
                 [&] { schedule.set_scope(block, -1, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
