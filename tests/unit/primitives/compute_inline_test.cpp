#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

TEST(ComputeInline, PaddingBecomesASelect) {
  for (const int64_t stride : {1, 2}) {
    for (const int64_t dilation : {1, 2}) {
      const Program before = make_conv(7, 3, 3, stride, 2, dilation);
      Schedule schedule(before);
      schedule.compute_inline(schedule.get_block("P"));
      EXPECT_EQ(schedule.program().blocks().size(), 1u);
      EXPECT_NE(text_of(schedule).find("select("), std::string::npos);
      expect_sound(before, schedule);
    }
  }
}

TEST(ComputeInline, ReachesAllConsumersAndShiftedIndices) {
  const Program before = make_program("{n: 6}", "{A: {shape: [n, n], dtype: f32}}",
                                      "B[i<n, j<n] = A[j, i] + 1\n"
                                      "  C[i<n - 1, j<n] = B[i + 1, j] * B[i, n - 1 - j]\n"
                                      "  O[i<n - 1, j<n] = C[i, j] + B[i, j]");
  Schedule schedule(before);
  schedule.compute_inline(schedule.get_block("B"));
  expect_sound(before, schedule);
  schedule.compute_inline(schedule.get_block("C"));
  EXPECT_EQ(schedule.program().blocks().size(), 1u);
  expect_sound(before, schedule);
}

TEST(ComputeInline, IntoAReductionAndAfterASplit) {
  const Program before = make_program("{n: 5, m: 7}", "{A: {shape: [n, m], dtype: i32}}",
                                      "B[i<n, j<m] = A[i, j] * 2\n"
                                      "  O[i<n] = sum(r<m) B[i, r]");
  Schedule schedule(before);
  schedule.split(schedule.get_loops(schedule.get_block("B"))[1], {std::nullopt, 4});
  schedule.split(schedule.get_loops(schedule.get_block("O"))[1], {std::nullopt, 4});
  schedule.compute_inline(schedule.get_block("B"));
  expect_sound(before, schedule);
}

TEST(ComputeInline, RefusesAnOutput) {
  Schedule schedule(make_chain(4, 3));
  const BlockRV block = schedule.get_block("C");
  expect_refused(schedule, "compute_inline", "the block writes an output of the program",
                 [&] { schedule.compute_inline(block); });
}

TEST(ComputeInline, RefusesAReduction) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}",
                                 "B[i<n] = sum(r<n) A[i, r]\n  O[i<n] = B[i] + 1"));
  const BlockRV block = schedule.get_block("B");
  expect_refused(schedule, "compute_inline", "the block has a reduction",
                 [&] { schedule.compute_inline(block); });
}

TEST(ComputeInline, RefusesWhatCannotBeInverted) {
  // B's diagonal writer: one iterator at two indices.
  Program program = make_chain(4, 4);
  Block* block = program.find_block("B");
  auto* store = block->body()->as<Store>();
  store->indices = {floordiv(block->iters[0].var, 2), block->iters[1].var};
  Schedule schedule(program);
  const BlockRV handle = schedule.get_block("B");
  expect_refused(schedule, "compute_inline",
                 "the indices do not determine the iteration that writes an element",
                 [&] { schedule.compute_inline(handle); });
}

TEST(ComputeInline, RefusesASecondWriter) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}",
                                 "B[i<n] = sum(r<n) A[i, r]\n  O[i<n] = B[i] + 1"));
  const BlockRV block = schedule.get_block("B");
  const BlockRV init = schedule.decompose_reduction(block, schedule.get_loops(block)[0]);
  expect_refused(schedule, "compute_inline", "the block is not the only writer of its buffer",
                 [&] { schedule.compute_inline(init); });
}

/// Each of forty stages reads the one before twice: inlining all would never end.
TEST(ComputeInline, ExpressionsHaveALimit) {
  std::string compute = "B0[i<n] = X[i] + X[i]";
  for (int stage = 1; stage < 40; ++stage)
    compute += fmt::format("\n  B{0}[i<n] = B{1}[i] + B{1}[i]", stage, stage - 1);
  const Program program =
      make_program("{n: 4}", "{X: {shape: [n], dtype: f32}}", compute + "\n  O[i<n] = B39[i] * 2");
  for (const bool reverse : {false, true}) {
    Schedule schedule(program);
    try {
      for (int stage = 0; stage < 39; ++stage) {
        const BlockRV block = schedule.get_block(fmt::format("B{}", reverse ? stage + 1 : stage));
        if (reverse) {
          schedule.reverse_compute_inline(block);
        } else {
          schedule.compute_inline(block);
        }
      }
      ADD_FAILURE() << "inlined";
    } catch (const ScheduleError& error) {
      EXPECT_EQ(error.reason(), "the expressions of the consumer would become too large");
      EXPECT_GT(schedule.trace().size(), 16U);
    }
  }
}

}  // namespace
}  // namespace tunesmith::test
