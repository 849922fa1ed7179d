// Vectors in the text of kernels: which accesses become built-in vectors, and that they are correct.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_candidate.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith::cuda {
namespace {

using ::testing::HasSubstr;
using ::testing::Not;

std::string text_of(const Schedule& schedule) {
  return test::target().source(lower_for(test::target(), schedule.program()), "k").value();
}

/// A copy of `rows` by `columns` elements through shared memory, `width` neighbours at a time.
Schedule copied(const std::string& type, int64_t rows, int64_t columns, int64_t width) {
  Schedule s(test::program_of(fmt::format("X: {{shape: [{}, {}], dtype: {}}}", rows, columns, type),
                              fmt::format("O[i<{}, j<{}] = X[i, j]", rows, columns)));
  const BlockRV writer = s.get_block("O");
  const BlockRV copy = s.cache_read(writer, 0, "shared");
  s.bind(s.get_loops(writer)[0], "block.x");
  s.compute_at(copy, s.get_loops(writer)[0]);
  for (const BlockRV& block : {copy, writer}) {
    const std::vector<LoopRV> parts = s.split(s.get_loops(block).back(), {std::nullopt, 8, width});
    s.bind(parts[1], "thread.x");
    s.vectorize(parts[2]);
  }
  return s;
}

TEST(CudaVectors, ACopyOfAlignedNeighboursIsOfVectors) {
  const std::string text = text_of(copied("f32", 3, 64, 4));
  EXPECT_THAT(text, HasSubstr("__shared__ __align__(32) float X_shared[64];"));
  EXPECT_THAT(text, HasSubstr("*(float4*)&X_shared[ax0_0 * 32 + thread_x * 4] = "
                              "*(const float4*)&X[i * 64 + ax0_0 * 32 + thread_x * 4];\n"))
      << text;
}

TEST(CudaVectors, AVectorHasSixteenBytesOfAnyType) {
  EXPECT_THAT(text_of(copied("f32", 3, 64, 2)), HasSubstr("*(const float2*)&X["));
  EXPECT_THAT(text_of(copied("f32", 3, 64, 8)), HasSubstr("*(const float4*)&X["));
  EXPECT_THAT(text_of(copied("f64", 3, 64, 4)), HasSubstr("*(const double2*)&X["));
  EXPECT_THAT(text_of(copied("f16", 3, 64, 8)), HasSubstr("*(const uint4*)&X["));
  EXPECT_THAT(text_of(copied("bf16", 3, 64, 4)), HasSubstr("*(const ushort4*)&X["));
  EXPECT_THAT(text_of(copied("i8", 3, 128, 16)), HasSubstr("*(const uint4*)&X["));
  EXPECT_THAT(text_of(copied("u8", 3, 64, 8)), HasSubstr("*(const uint2*)&X["));
  EXPECT_THAT(text_of(copied("i64", 3, 64, 2)), HasSubstr("*(const longlong2*)&X["));
}

TEST(CudaVectors, RowsThatAreNotAlignedAreAccessedElementByElement) {
  const std::string text = text_of(copied("f32", 3, 62, 4));
  EXPECT_THAT(text, Not(HasSubstr("*(const float4*)&X["))) << text;
  // Rows of 60 consist of whole vectors, although no number of threads divides them.
  const std::string whole = text_of(copied("f32", 3, 60, 4));
  EXPECT_THAT(whole, HasSubstr("*(const float4*)&X["));
  EXPECT_THAT(whole, HasSubstr("if ("));
}

TEST(CudaVectors, ArithmeticIsDoneLaneByLaneOnWhatVectorsLoad) {
  Schedule s(test::program_of("X: {shape: [64], dtype: f32}, Y: {shape: [64], dtype: f16}",
                              "O[i<64] = X[i] * X[i] + f32(Y[i])"));
  const std::vector<LoopRV> parts = s.split(s.get_loops(s.get_block("O"))[0], {std::nullopt, 4});
  s.bind(parts[0], "thread.x");
  s.vectorize(parts[1]);
  const std::string text = text_of(s);
  EXPECT_THAT(text, HasSubstr(R"(
  const float4 X_vector = *(const float4*)&X[thread_x * 4];
  const ushort4 Y_vector = *(const ushort4*)&Y[thread_x * 4];
  *(float4*)&O[thread_x * 4] = make_float4(X_vector.x * X_vector.x + (float)f16_to_f32(Y_vector.x), )"))
      << text;
  test::expect_right(s.program());
}

TEST(CudaVectors, WhatIsLoadedOnlyWhereAConditionHoldsIsSo) {
  Schedule s(test::program_of("X: {shape: [6, 8], dtype: f32}",
                              "O[i<8, j<8] = select(i >= 1 and i < 7, X[i - 1, j], 0)"));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.bind(loops[0], "thread.x");
  s.vectorize(loops[1]);
  const std::string text = text_of(s);
  EXPECT_THAT(text, HasSubstr("? *(const float4*)&X[")) << text;
  EXPECT_THAT(text, HasSubstr(": float4{};")) << text;
  test::expect_right(s.program());
}

// A convolution's reference showed that guarded elements were loaded before the guard.
TEST(CudaVectors, WhatIsLoadedUnderTheGuardOfAStoreStandsInsideOfIt) {
  Schedule s(test::program_of("X: {shape: [3, 8], dtype: f32}", "O[i<3, j<8] = X[i, j] * 2 + X[i, j]"));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.bind(loops[0], "thread.x");
  s.vectorize(s.split(loops[1], {IntArg{1}, IntArg{16}})[1]);
  EXPECT_THAT(text_of(s), HasSubstr("* 4 < 8) {\n      const float4 X_vector = *(const float4*)&X["))
      << text_of(s);
  test::expect_right(s.program());
}

class VectorTypes : public ::testing::TestWithParam<const char*> {};

TEST_P(VectorTypes, AreRightWhateverTheShape) {
  for (const int64_t columns : {64, 60, 37, 8, 3}) {
    for (const int64_t width : {2, 3, 4, 8, 16}) {
      SCOPED_TRACE(fmt::format("{} columns, {} at a time", columns, width));
      if (columns != 37 && columns != 60 && width == 3) continue;
      test::expect_right(copied(GetParam(), 3, columns, width).program());
    }
  }
}

// The lanes of a vector of many elements are packed and unpacked again.
TEST_P(VectorTypes, AreComputedWith) {
  const std::string type = GetParam();
  for (const int64_t width : {2, 4, 8, 16}) {
    Schedule s(
        test::program_of("X: {shape: [64], dtype: " + type + "}, Y: {shape: [64], dtype: " + type + "}",
                         "O[i<64] = X[i] + Y[i] * Y[i]"));
    const std::vector<LoopRV> parts = s.split(s.get_loops(s.get_block("O"))[0], {std::nullopt, width});
    s.bind(parts[0], "thread.x");
    s.vectorize(parts[1]);
    EXPECT_THAT(text_of(s), HasSubstr("_vector.x")) << text_of(s);
    test::expect_right(s.program());
  }
}

INSTANTIATE_TEST_SUITE_P(All, VectorTypes,
                         ::testing::Values("f64", "f32", "f16", "bf16", "i32", "i16", "i8", "u8", "u16",
                                           "u32", "u64", "i64"),
                         [](const auto& one) { return std::string(one.param); });

}  // namespace
}  // namespace tunesmith::cuda
