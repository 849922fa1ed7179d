#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

TEST(MaskLoads, PaddingLoadsWhereThereIsSomethingOnly) {
  const Program program = program_of("X: {shape: [6], dtype: f32}", "O[i<8] = inside(X[i - 1], 0)");
  EXPECT_EQ(text_after(Pass::MaskLoads, program), R"(
  for i in 0..8:
    O[i] = select(0 <= i - 1 and i - 1 < 6, X[i - 1] if 0 <= i - 1 and i - 1 < 6, 0.0)
    pass
)");
}

TEST(MaskLoads, WhatIsInsideAnywayHasNoMask) {
  const Program program = program_of("X: {shape: [8], dtype: f32}", "O[i<8] = select(i < 4, X[i], X[7 - i])");
  EXPECT_EQ(text_after(Pass::MaskLoads, program), R"(
  for i in 0..8:
    O[i] = select(i < 4, X[i], X[7 - i])
    pass
)");
}

/// The last of 16 lanes are cut off by the store's condition. A mask would hold the select's condition, with
/// loads of its own: masks in masks, until nobody can walk them.
TEST(MaskLoads, WhereTheStoreIsInsideSoIsALoadAtItsIndex) {
  const std::string inputs =
      "X: {shape: [3, 20], dtype: f32}, B: {shape: [20], dtype: f32}, S: {shape: [19], dtype: f32}";
  Schedule s(program_of(inputs, "O[i<3, j<20] = select(X[i, j] > 0, B[j], 0) + inside(S[j], 0)"));
  s.split(s.get_loops(s.get_block("O"))[1], {std::nullopt, 16});
  const std::string text = text_after(Pass::MaskLoads, s.program());
  EXPECT_THAT(text, testing::HasSubstr("select(0.0 < X[i, j_0*16 + j_1], B[j_0*16 + j_1], 0.0)"));
  EXPECT_THAT(text, testing::HasSubstr("S[j_0*16 + j_1] if j_0*16 + j_1 < 19"));
}

TEST(MaskLoads, TheOtherSideHasTheContrary) {
  Program program = program_of("X: {shape: [4], dtype: f32}", "O[i<8] = select(i < 4, X[i], 0)");
  Store& store = *program.find_block("O")->body()->as<Store>();
  const Expr chosen = store.value;
  store.value = select(logical_not(chosen.arg(0)), chosen.arg(2), chosen.arg(1));
  const std::string text = text_after(Pass::MaskLoads, program);
  EXPECT_THAT(text, testing::HasSubstr("X[i] if i < 4"));
}

TEST(MaskLoads, NestedConditionsAreAllInTheMask) {
  const Program program = program_of("X: {shape: [4, 4], dtype: f32}",
                                     "O[i<6, j<6] = inside(X[i - 1, j], 0) + inside(X[i, j - 1], 0)");
  const std::string text = text_after(Pass::MaskLoads, program);
  EXPECT_THAT(text, testing::HasSubstr("X[i - 1, j] if 0 <= i - 1 and i - 1 < 4 and j < 4"));
  EXPECT_THAT(text, testing::HasSubstr("X[i, j - 1] if i < 4 and 0 <= j - 1 and j - 1 < 4"));
}

TEST(MaskLoads, PaddingOfWhatIsPaddedIsOneSelect) {
  const std::string shape = "X: {shape: [4], dtype: f32}";
  EXPECT_EQ(text_after(Pass::MaskLoads,
                       program_of(shape, "O[i<8] = select(i < 6, select(2 <= i, X[i - 2], 0), 0)")),
            R"(
  for i in 0..8:
    O[i] = select(i < 6 and 2 <= i, X[i - 2] if i < 6 and 2 <= i, 0.0)
    pass
)");
  EXPECT_EQ(text_after(Pass::MaskLoads,
                       program_of(shape, "O[i<8] = select(i < 6, select(2 <= i, X[i - 2], 1), 0)")),
            R"(
  for i in 0..8:
    O[i] = select(i < 6, select(2 <= i, X[i - 2] if i < 6 and 2 <= i, 1.0), 0.0)
    pass
)");
}

TEST(MaskLoads, AConditionThatLoadsIsMaskedInMasks) {
  const Program program =
      program_of("X: {shape: [6], dtype: f32}",
                 "O[i<8] = select(inside(X[i - 1], 0) < 0.5, inside(X[i - 2], 1), inside(X[i - 3], 2))");
  const std::string text = text_after(Pass::MaskLoads, program);
  int loads = 0;
  for (size_t at = text.find("X[i - "); at != std::string::npos; at = text.find("X[i - ", at + 1)) {
    EXPECT_EQ(text.substr(at + 8, 4), " if ") << text;
    ++loads;
  }
  EXPECT_GT(loads, 3);
}

}  // namespace
}  // namespace tunesmith
