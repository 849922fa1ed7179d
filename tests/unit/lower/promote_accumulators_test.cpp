#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/verification/interpreter.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

/// A tile of `rows` x `columns` elements of O under the reduction, columns vectorized.
Program tiled(int64_t rows, int64_t columns, bool decomposed = true) {
  Schedule s(gmm(2 * rows, columns, 8));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  const std::vector<LoopRV> parts = s.split(loops[0], {IntArg{2}, IntArg{rows}});
  s.reorder({parts[0], loops[2], parts[1], loops[1]});
  if (decomposed) s.decompose_reduction(s.get_block("O"), loops[2]);
  s.unroll(parts[1]);
  if (decomposed) s.vectorize(loops[1]);
  return s.program().clone();
}

TEST(PromoteAccumulators, ATileStaysInRegistersOverTheReduction) {
  EXPECT_EQ(text_after(Pass::PromoteAccumulators, tiled(2, 16)), R"(
  for i_0 in 0..2:
    for i_1 in 0..2:
      for j in 0..16:
        O[i_0*32 + i_1*16 + j] = 0.0
        pass
    alloc O_acc: f32[32] register:
      for i_1 in 0..2 unrolled:
        for j in 0..2 unrolled:
          O_acc[ramp((i_1*2 + j)*8, 1, 8)] = O[ramp(i_0*32 + i_1*16 + j*8, 1, 8)]
      for k in 0..8:
        for i_1 in 0..2 unrolled:
          for j in 0..2 unrolled:
            O_acc[ramp((i_1*2 + j)*8, 1, 8)] = O_acc[ramp((i_1*2 + j)*8, 1, 8)] + broadcast(A[k + i_0*16 + i_1*8], 8)*B[ramp(k*16 + j*8, 1, 8)]
            pass
          pass
      for i_1 in 0..2 unrolled:
        for j in 0..2 unrolled:
          O[ramp(i_0*32 + i_1*16 + j*8, 1, 8)] = O_acc[ramp((i_1*2 + j)*8, 1, 8)]
)");
}

TEST(PromoteAccumulators, ATileThatLeavesNoRoomForItsOperandsStaysInMemory) {
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, tiled(6, 16)), testing::HasSubstr("O_acc: f32[96]"));
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, tiled(7, 16)), testing::Not(testing::HasSubstr("O_acc")))
      << "14 accumulators, two vectors of B and one element of A are more than 16";
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, tiled(14, 8)), testing::HasSubstr("O_acc: f32[112]"));
}

TEST(PromoteAccumulators, AnotherStoreInTheLoopForbidsIt) {
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, tiled(2, 16, false)),
              testing::Not(testing::HasSubstr("O_acc")));
}

TEST(PromoteAccumulators, ARaggedReductionWrittenOutHasOneElementNotSeveral) {
  const Program program =
      program_of("X: {shape: [4, 2, 3], dtype: f64}", "O[i<4] = sum(r<2, c<3) X[i, r, c]");
  Schedule s(program.clone());
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  const std::vector<LoopRV> parts = s.split(loops[2], {std::nullopt, IntArg{5}});
  s.decompose_reduction(s.get_block("O"), loops[1]);
  s.unroll(parts[1]);
  const Program lowered = lowered_to(s.program(), Pass::PromoteAccumulators);
  std::vector<Tensor> given = {Tensor::zeros(kF64, {4, 2, 3}), Tensor::zeros(kF64, {4})};
  given[0].fill_random(1);
  std::vector<Tensor> wanted = given;
  interpret(program, wanted);
  interpret(lowered, given);
  EXPECT_LT(max_error(given[1], wanted[1]), 1e-12) << body_text(lowered);
}

TEST(PromoteAccumulators, WhatHappensUnderAConditionIsNotHoisted) {
  Program program = gmm(2, 4, 8);
  Block& block = *program.find_block("O");
  block.take_init();
  block.predicate = lt(loops_above(block).back()->var, 5);
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, program), testing::Not(testing::HasSubstr("O_acc")));
  block.predicate = bool_imm(true);
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, program), testing::HasSubstr("O_acc: f32[1] register"));
}

}  // namespace
}  // namespace tunesmith
