#include <tunesmith/lower/lower.h>

#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(StorageAlign, LoweringLeavesGaps) {
  const Program before = make_chain(4, 6);
  Schedule schedule(before);
  schedule.storage_align(schedule.get_block("B"), 0, 0, 8, 3);
  EXPECT_NE(body_of(schedule).find("annotate storage_align = \"axis 0, factor 8, offset 3\""),
            std::string::npos)
      << body_of(schedule);
  const std::string lowered = to_string(lower(schedule.program(), LowerOptions{}).program);
  EXPECT_NE(lowered.find("B: f32[4, 6] strides [11, 1]"), std::string::npos) << lowered;
  expect_sound(before, schedule);
}

TEST(StorageAlign, OfTheTileThatIsLeft) {
  const Program before = make_chain(8, 6);
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("B");
  const std::vector<LoopRV> j =
      schedule.split(schedule.get_loops(schedule.get_block("C"))[1], {std::nullopt, 2});
  schedule.reorder({j[0], schedule.get_loops(schedule.get_block("C"))[0]});
  schedule.storage_align(block, 0, -2, 4, 1);
  schedule.compute_at(block, j[0]);
  const std::string lowered = to_string(lower(schedule.program(), LowerOptions{}).program);
  EXPECT_NE(lowered.find("B: f32[8, 2] strides [5, 1]"), std::string::npos) << lowered;
  expect_sound(before, schedule);
}

TEST(StorageAlign, Refusals) {
  Schedule schedule(make_chain(4, 6));
  const BlockRV b = schedule.get_block("B");
  const BlockRV c = schedule.get_block("C");
  const auto refused = [&](BlockRV block, int index, int axis, int64_t factor, int64_t offset,
                           const char* reason) {
    expect_refused(schedule, "storage_align", reason,
                   [&] { schedule.storage_align(block, index, axis, factor, offset); });
  };
  refused(c, 0, 0, 8, 0, "the buffer is not an intermediate of the program");
  refused(b, 1, 0, 8, 0, "the block has fewer writes");
  refused(b, 0, 2, 8, 0, "the buffer has no such dimension");
  refused(b, 0, 0, 0, 0, "the factor is not between 1 and 2^20");
  refused(b, 0, 0, 8, 8, "the offset is not below the factor");
  schedule.storage_align(b, 0, 0, 8, 0);
  refused(b, 0, 0, 8, 0, "the buffer is already aligned");
}

}  // namespace
}  // namespace tunesmith::test
