#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

TEST(PlaceBuffers, AroundAllUses) {
  EXPECT_EQ(text_after(Pass::PlaceBuffers, program_of(kInput, kChain)), R"(
  alloc T: f32[8, 16]:
    for i in 0..8:
      for j in 0..16:
        T[i, j] = exp(X[i, j])
        pass
    for i in 0..8:
      for j in 0..16:
        O[i, j] = T[i, j] + 1.0
        pass
)");
}

TEST(PlaceBuffers, AsInnermostAndAsSmallAsItsUsesAllow) {
  Schedule s(program_of(kInput, kChain));
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[0]);
  EXPECT_EQ(text_after(Pass::PlaceBuffers, s.program()), R"(
  for i in 0..8:
    alloc T: f32[1, 16]:
      for ax0 in 0..16:
        T[i - i, ax0] = exp(X[i, ax0])
        pass
      for j in 0..16:
        O[i, j] = T[i - i, j] + 1.0
        pass
    pass
)");
}

TEST(PlaceBuffers, OutsideAVectorOperation) {
  Schedule s(program_of(kInput, kChain));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.compute_at(s.get_block("T"), loops[1]);
  s.vectorize(loops[1]);
  EXPECT_EQ(text_after(Pass::PlaceBuffers, s.program()), R"(
  for i in 0..8:
    alloc T: f32[1, 16]:
      for j in 0..16 vectorized:
        T[i - i, j] = exp(X[i, j])
        O[i, j] = T[i - i, j] + 1.0
)");
}

TEST(PlaceBuffers, OutsideTheLoopThatCarriesAReduction) {
  Schedule s(gmm(4, 4, 8));
  const BlockRV copy = s.cache_write(s.get_block("O"), 0, "local");
  std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.reorder({loops[2], loops[1]});
  s.reverse_compute_at(copy, loops[0]);
  EXPECT_EQ(text_after(Pass::PlaceBuffers, s.program()), R"(
  for i in 0..4:
    alloc O_local: f32[1, 4] local:
      for k in 0..8:
        for j in 0..4:
          if k == 0:
            O_local[i - i, j] = 0.0
          O_local[i - i, j] = O_local[i - i, j] + A[i, k]*B[k, j]
      for ax0 in 0..4:
        O[i, ax0] = O_local[i - i, ax0]
        pass
    pass
)");
}

TEST(PlaceBuffers, WhatNobodyLoadsGoesWithItsLoops) {
  Program program = program_of(kInput, kChain);
  Store& last = *program.find_block("O")->body()->as<Store>();
  last.value = float_imm(1.0, kF32);
  EXPECT_EQ(text_after(Pass::PlaceBuffers, program), R"(
  for i in 0..8:
    for j in 0..16:
      O[i, j] = 1.0
      pass
)");
}

}  // namespace
}  // namespace tunesmith
