#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(TransformLayout, PacksACopyInPanels) {
  const Program before = make_gmm(4, 8, 5);
  Schedule schedule(before);
  const BlockRV copy = schedule.cache_read(schedule.get_block("C"), 1, "global");
  schedule.transform_layout(copy, "write", 0, "(k, j) -> (j // 4, k, j % 4)");
  EXPECT_NE(text_of(schedule).find("intermediate B_global: f32[2, 5, 4]"), std::string::npos)
      << text_of(schedule);
  EXPECT_NE(body_of(schedule).find("B_global[v1//4, v0, v1%4] = B[v0, v1]"), std::string::npos);
  EXPECT_NE(body_of(schedule).find("A[vi, vk]*B_global[vj//4, vk, vj%4]"), std::string::npos);
  expect_sound(before, schedule);
}

TEST(TransformLayout, ARaggedPanelHasElementsThatNothingTouches) {
  const Program before = make_gmm(4, 7, 5);
  Schedule schedule(before);
  const BlockRV copy = schedule.cache_read(schedule.get_block("C"), 1, "global");
  schedule.transform_layout(schedule.get_block("C"), "read", 1, "k, j -> j // 4, k, j % 4");
  EXPECT_NE(text_of(schedule).find("B_global: f32[2, 5, 4]"), std::string::npos);
  expect_sound(before, schedule);
  schedule.compute_at(copy, schedule.get_loops(schedule.get_block("C"))[0]);
  expect_sound(before, schedule);
}

TEST(TransformLayout, APackedCopyMovesByItsPanels) {
  const Program before = make_gmm(4, 16, 6);
  for (const int64_t tile : {2, 4, 8, 6}) {
    Schedule schedule(before);
    const BlockRV block = schedule.get_block("C");
    const BlockRV copy = schedule.cache_read(block, 1, "global");
    schedule.transform_layout(copy, "write", 0, "(k, j) -> (j // 4, k, j % 4)");
    const std::vector<LoopRV> loops = schedule.get_loops(block);
    const std::vector<LoopRV> j = schedule.split(loops[1], {std::nullopt, tile});
    schedule.reorder({j[0], loops[0]});
    schedule.compute_at(copy, j[0]);
    expect_sound(before, schedule);
    if (tile == 8) {
      EXPECT_NE(body_of(schedule).find("for ax1 in 0..8:"), std::string::npos) << body_of(schedule);
    }
  }
}

TEST(TransformLayout, InlinesThroughThePacking) {
  const Program before = make_chain(8, 6);
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("B");
  schedule.transform_layout(block, "write", 0, "(i, j) -> (i // 2, j, i % 2)");
  expect_sound(before, schedule);
  schedule.compute_inline(block);
  EXPECT_NE(body_of(schedule).find("C[vi, vj] = exp(A[vi, vj]) + 1.0"), std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
}

TEST(TransformLayout, FlattensAndTransposes) {
  const Program before = make_conv(5, 2, 3, 1, 1, 1);
  for (const char* map :
       {"(y, x, c) -> (y * 14 + x * 2 + c)", "(y, x, c) -> (c, x, y)",
        "(y, x, c) -> (y, (x * 2 + c) // 4, (x * 2 + c) % 4)", "(y,x,c)->(y, x+1, 2-1-c)"}) {
    Schedule schedule(before);
    schedule.transform_layout(schedule.get_block("P"), "write", 0, map);
    expect_sound(before, schedule);
  }
}

TEST(TransformLayout, RefusesAnInputAndAnOutput) {
  Schedule schedule(make_gmm(4, 3, 5));
  const BlockRV block = schedule.get_block("C");
  for (const char* access : {"read", "write"}) {
    expect_refused(schedule, "transform_layout", "the buffer is not an intermediate of the program",
                   [&] { schedule.transform_layout(block, access, 0, "(i, j) -> (j, i)"); });
  }
}

TEST(TransformLayout, RefusesMapsThatDoNotFit) {
  Schedule schedule(make_chain(4, 6));
  const BlockRV block = schedule.get_block("B");
  const auto refused = [&](const char* map, const char* reason) {
    expect_refused(schedule, "transform_layout", reason,
                   [&] { schedule.transform_layout(block, "write", 0, map); });
  };
  refused("(i) -> (i)", "the index map has another number of parameters");
  refused("(i, j) -> (i)", "the index map is not one-to-one");
  refused("(i, j) -> (i, j // 2)", "the index map is not one-to-one");
  refused("(i, j) -> (i - 1, j)", "the index map gives a negative index");
  refused("(i, j) -> (i, k)", "the index map cannot be read");
  refused("(i, i) -> (i, i)", "the index map cannot be read");
  refused("(i, j) -> (i * j, j)", "the index map cannot be read");
  refused("(i, j) -> (i // 0, j)", "the index map cannot be read");
  refused("(i, j) -> (i, j) + 1", "the index map cannot be read");
  refused("(i, j -> (i, j)", "the index map cannot be read");
  refused("", "the index map cannot be read");
  refused("(i, j) -> (i // 2 * 1099511627774 + i % 2, j * 1048576)",
          "the index map's image has more than 2^36 points");
}

TEST(TransformLayout, RefusesAnUnknownAccess) {
  Schedule schedule(make_chain(4, 6));
  const BlockRV block = schedule.get_block("B");
  expect_refused(schedule, "transform_layout", "expected \"read\" or \"write\"",
                 [&] { schedule.transform_layout(block, "reads", 0, "(i, j) -> (j, i)"); });
  expect_refused(schedule, "transform_layout", "the block has fewer reads",
                 [&] { schedule.transform_layout(block, "read", 1, "(i, j) -> (j, i)"); });
  expect_refused(schedule, "transform_layout", "the block has fewer writes",
                 [&] { schedule.transform_layout(block, "write", 1, "(i, j) -> (j, i)"); });
}

}  // namespace
}  // namespace tunesmith::test
