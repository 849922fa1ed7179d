// Offsets of buffers in the memory that the threads of a block share.
#include <map>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/visit.h"
#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

/// Reverses each row of n elements twice or three times, by way of shared memory.
Schedule reversed_rows(int64_t n, int times) {
  std::string compute;
  for (int t = 0; t < times; ++t) {
    const std::string from = t == 0 ? "X" : fmt::format("T{}", t - 1);
    compute += fmt::format("T{}[i<3, j<{}] = {}[i, {} - j] + 1\n  ", t, n, from, n - 1);
  }
  compute += fmt::format("O[i<3, j<{}] = T{}[i, {} - j] + 1", n, times - 1, n - 1);
  Schedule s(program_of(fmt::format("X: {{shape: [3, {}], dtype: f32}}", n), compute));
  const LoopRV rows = s.get_loops(s.get_block("O"))[0];
  for (int t = times; t-- > 0;) {
    const BlockRV block = s.get_block(fmt::format("T{}", t));
    s.set_scope(block, 0, "shared");
    s.compute_at(block, rows);
  }
  for (const Block* block : s.program().blocks()) {
    const LoopRV loop = s.get_loops(s.get_block(block->name)).back();
    s.bind(s.split(loop, {std::nullopt, int64_t{32}})[1], "thread.x");
  }
  s.bind(rows, "block.x");
  return s;
}

/// The offsets, by the buffers' names.
std::map<std::string, int64_t> offsets_of(const Program& program) {
  std::map<std::string, int64_t> offsets;
  for (const Allocate* allocate : collect<Allocate>(program.root())) {
    if (allocate->buffer->scope == "shared") offsets[allocate->buffer->name] = allocate->offset.value();
  }
  return offsets;
}

TEST(PlanScopes, BuffersThatAreNotNeededAtOnceShareBytes) {
  // Each is read by the next one, so the first and the third share a place.
  const Schedule s = reversed_rows(64, 3);
  const LoweredProgram lowered = lowered_for_grid(s.program());
  const std::map<std::string, int64_t> offsets = offsets_of(lowered.program);
  EXPECT_EQ(offsets.at("T0"), offsets.at("T2")) << to_string(lowered.program);
  EXPECT_EQ(std::abs(offsets.at("T0") - offsets.at("T1")), 256) << to_string(lowered.program);
  expect_same_after_every_step(s.program());
}

TEST(PlanScopes, WithoutTheBarrierBetweenThemThatIsARace) {
  const Schedule s = reversed_rows(64, 3);
  const size_t barriers = collect<Barrier>(lowered_for_grid(s.program()).program.root()).size();
  ASSERT_GE(barriers, 3u);
  size_t caught = 0;
  for (size_t left_out = 0; left_out < barriers; ++left_out) {
    LoweredProgram wrong = lowered_for_grid(s.program());
    replace(*collect<Barrier>(wrong.program.root())[left_out], nullptr);
    std::vector<Tensor> arguments = random_arguments(wrong.program);
    try {
      interpret(wrong, arguments);
    } catch (const InterpreterError&) {
      ++caught;
    }
  }
  EXPECT_EQ(caught, 3u) << "one behind each row that is read by other threads, or overwritten";
}

TEST(PlanScopes, WhatIsNeededAtOnceDoesNotShare) {
  const LoweredProgram lowered = lowered_for_grid(reversed_rows(64, 2).program());
  const std::map<std::string, int64_t> offsets = offsets_of(lowered.program);
  EXPECT_EQ(std::abs(offsets.at("T0") - offsets.at("T1")), 256) << to_string(lowered.program);
  LoweredProgram wrong = lowered_for_grid(reversed_rows(64, 2).program());
  for (Allocate* allocate : collect<Allocate>(wrong.program.root())) allocate->offset = 0;
  std::vector<Tensor> arguments = random_arguments(wrong.program);
  EXPECT_THAT([&] { interpret(wrong, arguments); }, testing::Throws<InterpreterError>());
}

TEST(PlanScopes, CapacityIsOfWhatIsNeededAtOnce) {
  // Three rows of 800 bytes in 2048.
  const Schedule s = reversed_rows(200, 3);
  const LoweredProgram lowered = lowered_for_grid(s.program());
  EXPECT_EQ(offsets_of(lowered.program).at("T0"), offsets_of(lowered.program).at("T2"));
  EXPECT_THAT([] { lowered_for_grid(reversed_rows(300, 2).program()); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr("to 2400 bytes, of at most 2048")));
}

}  // namespace
}  // namespace tunesmith
