#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

TEST(LowerBlocks, AnInitRunsBeforeTheFirstReductionIteration) {
  EXPECT_EQ(text_after(Pass::LowerBlocks, gmm(2, 3, 4)), R"(
  for i in 0..2:
    for j in 0..3:
      for k in 0..4:
        if k == 0:
          O[i, j] = 0.0
        O[i, j] = O[i, j] + A[i, k]*B[k, j]
)");
}

TEST(LowerBlocks, AReductionOfOneIterationAlwaysInitialises) {
  EXPECT_EQ(text_after(Pass::LowerBlocks, gmm(2, 3, 1)), R"(
  for i in 0..2:
    for j in 0..3:
      for k in 0..1:
        O[i, j] = 0.0
        O[i, j] = O[i, j] + A[i, k]*B[k, j]
)");
}

TEST(LowerBlocks, APredicateIsACondition) {
  Schedule s(program_of("X: {shape: [7], dtype: f32}", "O[i<7] = X[i] + 1"));
  s.split(s.get_loops(s.get_block("O"))[0], {IntArg{2}, IntArg{4}});
  EXPECT_EQ(text_after(Pass::LowerBlocks, s.program()), R"(
  for i_0 in 0..2:
    for i_1 in 0..4:
      if i_0*4 + i_1 < 7:
        O[i_0*4 + i_1] = X[i_0*4 + i_1] + 1.0
        pass
)");
}

TEST(LowerBlocks, TellsOverWhichLoopAReductionCarries) {
  Schedule s(gmm(2, 3, 8));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  const std::vector<LoopRV> parts = s.split(loops[2], {IntArg{2}, IntArg{4}});
  s.reorder({parts[0], loops[1], parts[1]});
  Program program = s.program().clone();
  const BlockFacts facts = lower_blocks(program);
  ASSERT_FALSE(facts.carried.empty());
  for (const BlockFacts::Carried& carried : facts.carried) {
    EXPECT_EQ(carried.buffer->name, "O");
    EXPECT_EQ(carried.loop->var->name, "k_0") << "the outermost one";
  }
  EXPECT_TRUE(program.blocks().empty());
}

}  // namespace
}  // namespace tunesmith
