// A machine with a grid of blocks of threads, for tests, and how programs are lowered for it.
#pragma once

#include <algorithm>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/grid/steps.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/program.h"
#include "tunesmith/lower/pipeline.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/verification/tensor.h"

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

/// Random inputs, and outputs to be written.
inline std::vector<Tensor> random_arguments(const Program& program) {
  std::vector<Tensor> arguments;
  for (const Buffer& input : program.inputs) {
    arguments.push_back(Tensor::like(*input));
    arguments.back().fill_random(arguments.size());
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  return arguments;
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

}  // namespace tunesmith::test
