#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

void expect_refused(const Program& program, const LowerOptions& options, const std::string& message) {
  EXPECT_THAT([&] { lower(program, options); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr(message)));
}

TEST(CheckExecution, LoopsAreBoundToAxesThatTheMachineHas) {
  Schedule s(gmm(4, 4, 4));
  s.bind(s.get_loops(s.get_block("O"))[0], "thread.w");
  expect_refused(s.program(), small_machine(),
                 "bind: unknown thread axis: i to 'thread.w'; the target has no thread axes");
  expect_refused(s.program(), grid_options(), "did you mean 'thread.");
}

TEST(CheckExecution, BuffersLieInScopesThatTheMachineHas) {
  Schedule s(gmm(4, 4, 4));
  s.cache_read(s.get_block("O"), 0, "sharde");
  expect_refused(s.program(), grid_options(), "set_scope: unknown memory scope: A_sharde in 'sharde'");
  expect_refused(s.program(), grid_options(), "'shared'");
}

TEST(PlanScopes, WhatAllShareIsWorkspaceAndTheRestHasACapacity) {
  const char* const chain = "T[i<8, j<64] = X[i, j] + 1\n  O[i<8, j<64] = T[i, 63 - j] + 1";
  Schedule apart(program_of("X: {shape: [8, 64], dtype: f32}", chain));
  const LoweredProgram lowered = lowered_for_grid(apart.program());
  ASSERT_EQ(lowered.workspace.size(), 1u);
  EXPECT_EQ(lowered.workspace_bytes, 8 * 64 * 4);

  Schedule shared(program_of("X: {shape: [8, 64], dtype: f64}", chain));
  shared.set_scope(shared.get_block("T"), 0, "shared");
  const LoopRV outermost = shared.get_loops(shared.get_block("O"))[0];
  shared.compute_at(shared.get_block("T"), shared.split(outermost, {1, std::nullopt})[0]);
  EXPECT_THAT([&] { lowered_for_grid(shared.program()); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr(
                  "plan_scopes: a scope has less memory than the program needs: T brings 'shared' to 4096 "
                  "bytes, of at most 2048 in each block")));
}

}  // namespace
}  // namespace tunesmith
