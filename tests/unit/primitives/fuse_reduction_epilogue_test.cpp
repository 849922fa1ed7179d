#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

Program biased(const char* epilogue, const char* reduction = "sum(k<5) A[i, k] * B[k, j]") {
  return make_program(
      "{n: 4, m: 6}",
      "{A: {shape: [n, 5], dtype: f32}, B: {shape: [5, m], dtype: f32}, bias: {shape: [m], dtype: f32}}",
      fmt::format("C[i<n, j<m] = {}\n  {}", reduction, epilogue));
}

TEST(FuseReductionEpilogue, TransposedAndOfAMaximum) {
  for (const char* epilogue :
       {"O[j<m, i<n] = max(C[i, j], bias[j])", "O[j<m, i<n] = max(bias[j], C[i, j])"}) {
    const Program before = biased(epilogue, "max(k<5) A[i, k] * B[k, j]");
    Schedule schedule(before);
    schedule.fuse_reduction_epilogue(schedule.get_block("C"), schedule.get_block("O"));
    const BlockRV c = schedule.get_block("C");
    schedule.decompose_reduction(c, schedule.get_loops(c)[1]);
    expect_sound(before, schedule);
  }
}

// The init reads the epilogue's operands, and must stay behind their producer.
TEST(FuseReductionEpilogue, WhatTheInitReadsIsAProducer) {
  const Program before =
      make_program("{n: 4, m: 6}", "{A: {shape: [n, 5], dtype: f32}, bias: {shape: [m], dtype: f32}}",
                   "D[j<m] = bias[j] * 2\n  C[i<n, j<m] = sum(k<5) A[i, k]\n  T[i<n, j<m] = C[i, j] + D[j]\n "
                   " O[i<n, j<m] = T[i, j] * 3");
  Schedule schedule(before);
  const BlockRV c = schedule.get_block("C");
  schedule.fuse_reduction_epilogue(c, schedule.get_block("T"));
  const auto producers = schedule.get_producers(c);
  ASSERT_EQ(producers.size(), 1U);
  EXPECT_EQ(schedule.block(producers[0]).name, "D");
  schedule.compute_inline(schedule.get_block("D"));
  schedule.compute_at(c, schedule.get_loops(schedule.get_block("O"))[0]);
  expect_sound(before, schedule, 1e-5);
}

TEST(FuseReductionEpilogue, Refusals) {
  const auto refused = [](const Program& program, const char* reason, const char* a = "C",
                          const char* b = "O") {
    Schedule schedule(program);
    const BlockRV reduction = schedule.get_block(a);
    const BlockRV epilogue = schedule.get_block(b);
    expect_refused(schedule, "fuse_reduction_epilogue", reason,
                   [&] { schedule.fuse_reduction_epilogue(reduction, epilogue); });
  };
  const char* combines = "the epilogue does not combine the result as the reduction does";
  refused(biased("O[i<n, j<m] = C[i, j] * bias[j]"), combines);
  refused(biased("O[i<n, j<m] = (C[i, j] + bias[j]) + C[i, j]"), combines);
  refused(biased("O[i<n, j<m] = abs(C[i, j]) + bias[j]"), combines);
  refused(biased("O[i<n, j<m] = C[n - 1 - i, j] + bias[j]"),
          "the block does not read its producer's buffer element by element");
  refused(biased("O[i<n] = sum(j<m) (C[i, j] + bias[j])"), "the epilogue has a reduction");
  refused(biased("O[i<n, j<m] = C[i, j] + bias[j]"), "the block is not a sum, product, minimum or maximum",
          "O", "C");
  refused(biased("T[i<n, j<m] = C[i, j] + bias[j]\n  O[i<n, j<m] = T[i, j] + C[i, j]"),
          "the epilogue is not the only consumer of the reduction", "C", "T");
  refused(biased("D[j<m] = bias[j] * 2\n  O[i<n, j<m] = C[i, j] + D[j]"),
          "another input of the block is not finished where its producer stands");
  refused(make_gmm(3, 3, 3), "the block writes an output of the program", "C", "C");
}

}  // namespace
}  // namespace tunesmith::test
