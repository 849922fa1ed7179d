#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(DecomposePadding, AtEveryLoopOfAMovedTile) {
  for (const int64_t stride : {1, 2}) {
    const Program before = make_conv(7, 2, 3, stride, 2, 1);
    for (size_t at = 0; at < 3; ++at) {
      Schedule schedule(before);
      const BlockRV out = schedule.get_block("O");
      const BlockRV pad = schedule.get_block("P");
      const std::vector<LoopRV> y = schedule.split(schedule.get_loops(out)[0], {std::nullopt, 2});
      schedule.compute_at(pad, y[0]);
      schedule.parallel(y[0]);
      schedule.decompose_padding(pad, schedule.get_loops(pad)[1 + at]);
      expect_sound(before, schedule);
    }
  }
}

// Only the filling block writes rows of padding, so a reader must not move to the copy.
TEST(DecomposePadding, AReaderIsNotMovedToTheCopyingBlock) {
  const Program before = make_program("{n: 6}", "{X: {shape: [n], dtype: i32}}",
                                      "P[i<n + 2] = inside(X[i - 1], 0)\n  O[i<n + 2] = P[i] * 2");
  Schedule schedule(before);
  const BlockRV pad = schedule.get_block("P");
  const LoopRV loop = schedule.get_loops(pad)[0];
  schedule.decompose_padding(pad, loop);
  const BlockRV out = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_at", "cannot determine what an iteration of the loop writes",
                 [&] { schedule.reverse_compute_at(out, loop); });
}

TEST(DecomposePadding, Refusals) {
  const auto refused = [](const Program& program, const char* name, const char* reason) {
    Schedule schedule(program);
    const BlockRV block = schedule.get_block(name);
    const LoopRV loop = schedule.get_loops(block)[0];
    expect_refused(schedule, "decompose_padding", reason, [&] { schedule.decompose_padding(block, loop); });
  };
  const auto one = [](const char* compute) {
    return make_program("{n: 5}", "{A: {shape: [n, n], dtype: f32}}", compute);
  };
  refused(make_chain(4, 3), "B", "the block does not copy with padding");
  refused(make_gmm(4, 3, 5), "C", "the block has a reduction");
  refused(one("O[i<n, j<n] = select(i < j, A[i, j], 0)"), "O", "the condition of the padding is not a box");
  refused(one("O[i<n, j<n] = select(i < 3, A[i, j], A[j, i])"), "O",
          "the block does not pad with a constant");
  Schedule schedule(make_conv(4, 1, 3, 1, 1, 1));
  const BlockRV block = schedule.get_block("P");
  const LoopRV other = schedule.get_loops(schedule.get_block("O"))[0];
  expect_refused(schedule, "decompose_padding", "the loop does not stand around the block",
                 [&] { schedule.decompose_padding(block, other); });
}

}  // namespace
}  // namespace tunesmith::test
