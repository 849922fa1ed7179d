#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(CacheRead, RefusesALayoutWithGaps) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("C");
  schedule.transform_layout(block, "read", 0, "(i, j) -> (i // 3, i % 3, j)");
  expect_refused(schedule, "cache_read", "the buffer has elements that nothing writes",
                 [&] { schedule.cache_read(block, 0, "local"); });
}

TEST(CacheRead, RefusesAnIndexBeyondTheReads) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  expect_refused(schedule, "cache_read", "the block has fewer reads",
                 [&] { schedule.cache_read(block, 2, "local"); });
}

}  // namespace
}  // namespace tunesmith::test
