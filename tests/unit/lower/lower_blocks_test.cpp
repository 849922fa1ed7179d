#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

TEST(LowerBlocks, TellsOverWhichLoopAReductionCarries) {
  Schedule s(gmm(2, 3, 8));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  const std::vector<LoopRV> parts = s.split(loops[2], {IntArg{2}, IntArg{4}});
  s.reorder({parts[0], loops[1], parts[1]});
  Program program = s.program().clone();
  const BlockFacts facts = lower_blocks(program);
  ASSERT_FALSE(facts.loop_carried.empty());
  for (const BlockFacts::LoopCarried& carried : facts.loop_carried) {
    EXPECT_EQ(carried.buffer->name, "O");
    EXPECT_EQ(carried.loop->var->name, "k_0") << "the outermost one";
  }
  EXPECT_TRUE(program.blocks().empty());
}

}  // namespace
}  // namespace tunesmith
