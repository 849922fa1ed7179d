#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(ReorderBlockIterVar, RefusesWhatIsNoPermutation) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  for (const std::vector<int64_t>& order :
       {std::vector<int64_t>{0, 1}, {0, 1, 1}, {0, 1, 3}, {0, 1, -1}, {0, 1, 2, 0}}) {
    expect_refused(schedule, "reorder_block_iter_var", "the order is not a permutation of the iterators",
                   [&] { schedule.reorder_block_iter_var(block, order); });
  }
}

}  // namespace
}  // namespace tunesmith::test
