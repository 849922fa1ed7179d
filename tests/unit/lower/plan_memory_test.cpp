#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

/// A program with an intermediate buffer T of `n` f32, under an outer loop that may be parallel.
Program with_buffer(int64_t n, bool parallel) {
  Schedule s(program_of(fmt::format("X: {{shape: [2, {}], dtype: f32}}", n),
                        fmt::format("T[i<2, j<{0}] = exp(X[i, j])\n  U[i<2, j<{0}] = exp(T[i, j])\n"
                                    "  O[i<2, j<{0}] = T[i, j] + U[i, j]",
                                    n)));
  const LoopRV outer = s.get_loops(s.get_block("O"))[0];
  s.compute_at(s.get_block("U"), outer);
  s.compute_at(s.get_block("T"), outer);
  if (parallel) s.parallel(outer);
  return s.program().clone();
}

TEST(PlanMemory, LargeBuffersLieOneAfterTheOtherInTheWorkspace) {
  const LoweredProgram lowered = lower(with_buffer(5001, false), small_machine());
  ASSERT_EQ(lowered.workspace.size(), 2u);
  EXPECT_EQ(lowered.workspace[0].offset, 0);
  EXPECT_EQ(lowered.workspace[1].offset, 20032) << "5001 * 4 bytes, rounded up to 64";
  EXPECT_EQ(lowered.workspace_bytes, 2 * 20032);
}

TEST(PlanMemory, ThreadsHaveTheirBuffersOnTheirStacks) {
  const LoweredProgram lowered = lower(with_buffer(5001, true), small_machine());
  EXPECT_TRUE(lowered.workspace.empty());
  EXPECT_EQ(lowered.workspace_bytes, 0);
}

TEST(PlanMemory, SmallBuffersNeedNoWorkspace) {
  EXPECT_TRUE(lower(with_buffer(4096, false), small_machine()).workspace.empty());
  EXPECT_EQ(lower(with_buffer(4097, false), small_machine()).workspace.size(), 2u);
}

TEST(PlanMemory, WhatTheStackDoesNotHoldIsWorkspace) {
  constexpr int64_t kBytes = 4096 * 4, kBuffers = 40;
  std::string stages = "S0[i<4096] = exp(X[i])\n";
  for (int i = 1; i < kBuffers; ++i) stages += fmt::format("  S{}[i<4096] = exp(S{}[i])\n", i, i - 1);
  stages += fmt::format("  O[i<4096] = exp(S{}[i])", kBuffers - 1);
  const LoweredProgram lowered =
      lower(Schedule(program_of("X: {shape: [4096], dtype: f32}", stages)).program(), small_machine());
  EXPECT_EQ(lowered.workspace_bytes, kBuffers * kBytes - LowerOptions{}.max_stack_bytes);
}

TEST(PlanMemory, AStackTooBigIsRefused) {
  LowerOptions options = small_machine();
  options.max_stack_bytes = 40000;
  EXPECT_THAT([&] { lower(with_buffer(5001, true), options); },
              testing::ThrowsMessage<LowerError>(
                  testing::AllOf(testing::StartsWith("plan_memory: the buffers on the stack are too big: "),
                                 testing::HasSubstr("brings them to 40064 bytes, of at most 40000"))));
}

TEST(PlanMemory, AnExpansionTooLongIsRefused) {
  Schedule s(gmm(8, 8, 8));
  for (const LoopRV& loop : s.get_loops(s.get_block("O"))) s.unroll(loop);
  LowerOptions options = small_machine();
  options.max_expanded_stores = 1024;  // 512 updates and 512 initialisations
  EXPECT_NO_THROW(lower(s.program(), options));
  options.max_expanded_stores = 1023;
  EXPECT_THAT([&] { lower(s.program(), options); },
              testing::ThrowsMessage<LowerError>(
                  "plan_memory: the unrolled program is too long: more than 1023 stores"));
}

}  // namespace
}  // namespace tunesmith
