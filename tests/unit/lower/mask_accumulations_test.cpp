#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

/// `extent` rows in tiles of 4 under the reduction, which has been decomposed; eight columns.
Program ragged(int64_t extent, int64_t tiles) {
  Schedule s(gmm(extent, 8, 3));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  const std::vector<LoopRV> parts = s.split(loops[0], {IntArg{tiles}, IntArg{4}});
  s.reorder({parts[0], loops[2], parts[1], loops[1]});
  s.decompose_reduction(s.get_block("O"), loops[2]);
  s.unroll(parts[1]);
  s.vectorize(loops[1]);
  return s.program().clone();
}

TEST(MaskAccumulations, TheGuardOfARaggedTileBecomesTheMaskOfItsStore) {
  const std::string text = text_after(Pass::MaskAccumulations, ragged(10, 3));
  EXPECT_THAT(text, testing::HasSubstr(R"(
    for k in 0..3:
      for i_1 in 0..4 unrolled:
        for j in 0..8 vectorized:
          O[i_0*4 + i_1, j] = (O[i_0*4 + i_1, j] if i_0*4 + i_1 < 10) + A[min(i_0*4 + i_1, 9), k]*B[k, j] where i_0*4 + i_1 < 10
)"));
}

TEST(MaskAccumulations, TheTileStaysInRegisters) {
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, ragged(10, 3)), testing::HasSubstr("O_acc"));
}

TEST(MaskAccumulations, OfWholeVectorsNoLaneIsLeftInTheGuard) {
  // 16 columns are four vectors, in tiles of three.
  Schedule s(gmm(1, 16, 3));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  const std::vector<LoopRV> parts = s.split(loops[1], {IntArg{2}, IntArg{3}, IntArg{4}});
  s.reorder({parts[0], loops[2], parts[1], parts[2]});
  s.decompose_reduction(s.get_block("O"), loops[2]);
  s.unroll(parts[1]);
  s.vectorize(parts[2]);
  const std::string text = text_after(Pass::MaskAccumulations, s.program());
  EXPECT_THAT(text, testing::HasSubstr("B[k, min(j_0*3 + j_1, 3)*4 + j_2] where j_0*3 + j_1 < 4"));
  EXPECT_THAT(text_after(Pass::PromoteAccumulators, s.program()), testing::HasSubstr("O_acc"));
}

TEST(MaskAccumulations, WithoutARowToRepeatLoadsAreMasked) {
  // The fourth tile has no row at all.
  EXPECT_THAT(text_after(Pass::MaskAccumulations, ragged(10, 4)),
              testing::HasSubstr("A[i_0*4 + i_1, k] if i_0*4 + i_1 < 10"));
}

TEST(MaskAccumulations, AGuardThatMovesWithTheReductionStays) {
  Schedule s(gmm(4, 8, 10));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.split(loops[2], {IntArg{3}, IntArg{4}});
  const std::string text = text_after(Pass::MaskAccumulations, s.program());
  EXPECT_THAT(text, testing::HasSubstr("if k_0*4 + k_1 < 10:"));
  EXPECT_THAT(text, testing::Not(testing::HasSubstr("where")));
}

}  // namespace
}  // namespace tunesmith
