#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/verification/interpreter.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

/// The last loop of O's nest vectorized, 8 lanes of f32 to a vector.
Program vectorized(const std::string& inputs, const std::string& compute) {
  Schedule s(program_of(inputs, compute));
  s.vectorize(s.get_loops(s.get_block("O")).back());
  return s.program().clone();
}

TEST(VectorizeLoops, AWideLoopIsUnrolledVectors) {
  EXPECT_EQ(
      text_after(Pass::VectorizeLoops, vectorized("X: {shape: [16], dtype: f32}", "O[i<16] = X[i] + 1")), R"(
  for i in 0..2 unrolled:
    O[ramp(i*8, 1, 8)] = X[ramp(i*8, 1, 8)] + broadcast(1.0, 8)
    pass
)");
}

TEST(VectorizeLoops, AnOddEndIsAMaskedVector) {
  EXPECT_EQ(text_after(Pass::VectorizeLoops, vectorized("X: {shape: [11], dtype: f32}", "O[i<11] = X[i]")),
            R"(
  O[ramp(0, 1, 8)] = X[ramp(0, 1, 8)]
  O[ramp(8, 1, 8)] = X[ramp(8, 1, 8)] if ramp(0, 1, 8) < broadcast(3, 8) where ramp(0, 1, 8) < broadcast(3, 8)
)");
}

TEST(VectorizeLoops, WhatAllLanesShareIsLoadedOnce) {
  EXPECT_EQ(text_after(Pass::VectorizeLoops,
                       vectorized("X: {shape: [8, 8], dtype: f32}, Y: {shape: [8], dtype: f32}",
                                  "O[i<8, j<8] = X[j, i] * Y[i]")),
            R"(
  for i in 0..8:
    O[ramp(i*8, 1, 8)] = X[ramp(i, 8, 8)]*broadcast(Y[i], 8)
    pass
)");
}

TEST(VectorizeLoops, APredicateMasksLanes) {
  Schedule s(program_of("X: {shape: [11], dtype: f32}", "O[i<11] = X[i]"));
  s.vectorize(s.split(s.get_loops(s.get_block("O"))[0], {IntArg{3}, IntArg{4}})[1]);
  EXPECT_EQ(text_after(Pass::VectorizeLoops, s.program()), R"(
  for i_0 in 0..3:
    O[ramp(i_0*4, 1, 4)] = X[ramp(i_0*4, 1, 4)] if ramp(i_0*4, 1, 4) < broadcast(11, 4) where ramp(i_0*4, 1, 4) < broadcast(11, 4)
    pass
)");
}

/// What whole vectors that lie beyond the end share is not loaded.
void expect_masked_by_groups_of_four(const Program& program, const std::string& load) {
  Schedule s(program);
  s.vectorize(s.split(s.get_loops(s.get_block("O"))[0], {IntArg{2}, IntArg{4}, IntArg{4}})[2]);
  const Program lowered = lowered_to(s.program(), Pass::VectorizeLoops);
  EXPECT_THAT(body_text(lowered), testing::HasSubstr(load + " if ramp("));
  std::vector<Tensor> wanted;
  for (const Buffer& input : program.inputs) {
    wanted.push_back(Tensor::like(*input));
    wanted.back().fill_random(wanted.size());
  }
  wanted.push_back(Tensor::like(*program.outputs[0]));
  std::vector<Tensor> got = wanted;
  interpret(program, wanted);
  interpret(lowered, got);  // throws at an access out of bounds
  EXPECT_EQ(got.back().bytes, wanted.back().bytes);
}

// Found by reading: it was loaded all the same.
TEST(VectorizeLoops, WhatLanesShareIsNotLoadedWhereNoLaneIs) {
  expect_masked_by_groups_of_four(
      program_of("X: {shape: [17], dtype: f32}, Y: {shape: [5], dtype: f32}", "O[i<17] = X[i] + Y[i // 4]"),
      "Y[broadcast(i_0*4 + i_1, 4)]");
}

TEST(VectorizeLoops, NorIsAnIndexThatIsData) {
  expect_masked_by_groups_of_four(program_of("W: {shape: [3, 17], dtype: f32}, I: {shape: [5], dtype: i32}",
                                             "O[i<17] = W[at(I[i // 4]), i]"),
                                  "I[broadcast(i_0*4 + i_1, 4)]");
}

TEST(VectorizeLoops, AVectorInsideAVectorIsUnrolled) {
  Schedule s(program_of("X: {shape: [2, 8], dtype: f32}", "O[i<2, j<8] = X[i, j]"));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.vectorize(loops[1]);
  s.loop(loops[0]).loop_kind = LoopKind::Vectorized;
  EXPECT_EQ(text_after(Pass::VectorizeLoops, s.program()), R"(
  for j in 0..8 unrolled:
    O[ramp(j, 8, 2)] = X[ramp(j, 8, 2)]
    pass
)");
}

TEST(VectorizeLoops, LanesThatWriteOneElementAreRefused) {
  Program program = gmm(2, 3, 8);
  loops_above(*program.find_block("O")).back()->loop_kind = LoopKind::Vectorized;
  program.find_block("O")->take_init();
  EXPECT_THAT(
      [&] { lowered_to(program, Pass::VectorizeLoops); },
      testing::ThrowsMessage<LowerError>("vectorize: the lanes of a vectorized loop write one element: O"));
}

}  // namespace
}  // namespace tunesmith
