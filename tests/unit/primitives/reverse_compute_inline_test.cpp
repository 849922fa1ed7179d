#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

Program bias_and_relu() {
  return make_program("{n: 5, m: 3}", "{A: {shape: [n, m], dtype: f32}, D: {shape: [m], dtype: f32}}",
                      "B[i<n, j<m] = exp(A[i, j])\n"
                      "  C[i<n, j<m] = B[i, j] + D[j]\n"
                      "  O[j<m, i<n] = max(C[i, j], 0)");
}

TEST(ReverseComputeInline, MovesAnEpilogueIntoItsProducer) {
  const Program before = bias_and_relu();
  Schedule schedule(before);
  schedule.reverse_compute_inline(schedule.get_block("C"));
  expect_sound(before, schedule);
  schedule.reverse_compute_inline(schedule.get_block("O"));
  EXPECT_EQ(body_of(schedule),
            "for i in 0..5:\n"
            "  for j in 0..3:\n"
            "    block B(vi: spatial 5 = i, vj: spatial 3 = j):\n"
            "      O[vj, vi] = max(exp(A[vi, vj]) + D[vj], 0.0)\n");
  EXPECT_TRUE(schedule.program().intermediates.empty());
  expect_sound(before, schedule);
}

TEST(ReverseComputeInline, IntoATiledProducerWithAPredicate) {
  const Program before = bias_and_relu();
  Schedule schedule(before);
  schedule.split(schedule.get_loops(schedule.get_block("B"))[0], {std::nullopt, 2});
  schedule.reverse_compute_inline(schedule.get_block("C"));
  expect_sound(before, schedule);
}

TEST(ReverseComputeInline, RefusesAReduction) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}",
                                 "B[i<n, j<n] = A[i, j] + 1\n  O[i<n] = sum(r<n) B[i, r]"));
  const BlockRV block = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_inline", "the block has a reduction",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(ReverseComputeInline, RefusesAReductionAsProducer) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}",
                                 "B[i<n] = sum(r<n) A[i, r]\n  O[i<n] = B[i] + 1"));
  const BlockRV block = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_inline", "the producer of the block is a reduction",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(ReverseComputeInline, RefusesWithoutProducer) {
  Schedule schedule(bias_and_relu());
  const BlockRV block = schedule.get_block("B");
  expect_refused(schedule, "reverse_compute_inline", "the block has no producer",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(ReverseComputeInline, RefusesAProducerWithTwoConsumers) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n], dtype: f32}}",
                                 "B[i<n] = A[i] + 1\n  C[i<n] = B[i] * 2\n  O[i<n] = B[i] + C[i]"));
  const BlockRV block = schedule.get_block("C");
  expect_refused(schedule, "reverse_compute_inline", "the producer of the block has another consumer",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(ReverseComputeInline, RefusesTwoKindsOfReads) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: f32}}",
                                 "B[i<n, j<n] = A[i, j] + 1\n  O[i<n, j<n] = B[i, j] + B[j, i]"));
  const BlockRV block = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_inline",
                 "the block reads its producer's buffer in more than one way",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(ReverseComputeInline, RefusesAPartOfTheProducer) {
  Schedule schedule(
      make_program("{n: 4}", "{A: {shape: [n], dtype: f32}}", "B[i<n] = A[i] + 1\n  O[i<n - 1] = B[i + 1]"));
  const BlockRV block = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_inline",
                 "the block does not read its producer's buffer element by element",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(ReverseComputeInline, RefusesABroadcast) {
  Schedule schedule(
      make_program("{n: 4}", "{A: {shape: [n], dtype: f32}}", "B[i<n] = A[i] + 1\n  O[i<n, j<n] = B[i]"));
  const BlockRV block = schedule.get_block("O");
  expect_refused(schedule, "reverse_compute_inline",
                 "the block does not read its producer's buffer element by element",
                 [&] { schedule.reverse_compute_inline(block); });
}

TEST(ReverseComputeInline, TakesTheLastProducerAndKeepsTheOthers) {
  const Program before = make_program("{n: 4}", "{A: {shape: [n], dtype: f32}}",
                                      "B[i<n] = A[i] + 1\n  C[i<n] = A[i] * 3\n  O[i<n] = B[i] - C[i]");
  Schedule schedule(before);
  schedule.reverse_compute_inline(schedule.get_block("O"));
  EXPECT_EQ(schedule.program().find_block("O"), nullptr);
  EXPECT_NE(schedule.program().find_block("C"), nullptr);
  expect_sound(before, schedule);
}

}  // namespace
}  // namespace tunesmith::test
