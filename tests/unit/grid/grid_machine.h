// A machine with a grid of blocks of threads for tests, and lowering for it.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "random_arguments.h"
#include "tunesmith/grid/steps.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/lower/pipeline.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/verification/interpreter.h"

namespace tunesmith::test {

inline ExecutionModel grid_machine() {
  ExecutionModel model;
  model.levels = {{"block", {"x", "y", "z"}, {1000, 100, 100}, 100000, false},
                  {"thread", {"x", "y", "z"}, {64, 64, 8}, 128, true}};
  model.scopes = {{kScopeGlobal, "", 0, 64, 0, 0},
                  {"shared", "block", 2048, 16, 32, 4, {4, 8, 16}},
                  {kScopeLocal, "thread", 1024, 16, 0, 0},
                  {kScopeRegister, "thread", 1024, 4, 0, 0}};
  return model;
}

inline LowerOptions grid_options() {
  LowerOptions options;
  options.execution = grid_machine();
  return options;
}

inline Pipeline grid_pipeline(std::string_view last = "plan_scopes") {
  std::vector<LoweringStep> steps{kernel_step("lower_blocks"),
                                  kernel_step("split_buffers"),
                                  grid::join_threads(),
                                  kernel_step("place_buffers"),
                                  grid::pipeline_loops(),
                                  kernel_step("double_buffers"),
                                  grid::close_gaps(),
                                  kernel_step("tighten_loops"),
                                  kernel_step("flatten"),
                                  kernel_step("hoist_conditions"),
                                  kernel_step("remove_unit_loops"),
                                  grid::plan_scopes()};
  const auto end = std::ranges::find(steps, last, &LoweringStep::name);
  steps.erase(std::next(end), steps.end());
  return Pipeline(std::move(steps));
}

inline LoweredProgram lowered_for_grid(const Program& program, std::string_view last = "plan_scopes") {
  return lower(program, grid_options(), grid_pipeline(last));
}

/// After every step of lowering the program computes what the schedule does, without races.
inline void expect_same_after_every_step(const Program& program) {
  std::vector<Tensor> expected = random_arguments(program);
  interpret(program, expected);
  lower(program, grid_options(), grid_pipeline(), [&](const LoweringStep& step, const LoweringState& state) {
    std::vector<Tensor> computed = random_arguments(program);
    EXPECT_NO_THROW(interpret(state.lowered, computed)) << "after " << step.name << ":\n"
                                                        << to_string(state.lowered.program);
    EXPECT_EQ(computed, expected) << "after " << step.name;
  });
}

/// Binds the two innermost loops of a block to threads.
inline void bind_to_threads(Schedule& s, BlockRV block) {
  const std::vector<LoopRV> own = s.get_loops(block);
  s.bind(own[own.size() - 2], "thread.y");
  s.bind(own[own.size() - 1], "thread.x");
}

/// Lets all threads fetch tiles of both operands of `product` under `steps`, and write results of
/// `accumulator` under `tile`.
inline void share_operands(Schedule& s, BlockRV product, LoopRV steps, LoopRV tile,
                           const std::string& accumulator) {
  for (const int operand : {0, 1}) {
    const BlockRV copy = s.cache_read(product, operand, "shared");
    s.compute_at(copy, steps);
    bind_to_threads(s, copy);
  }
  if (accumulator.empty()) return;
  const BlockRV copy = s.cache_write(product, 0, accumulator);
  s.reverse_compute_at(copy, tile);
  bind_to_threads(s, copy);
}

}  // namespace tunesmith::test
