// Makes programs from workload text, and compares results before and after a transformation.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tunesmith/analysis/verify.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/lower/lower.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/workload.h>

#include "unit/primitives/programs.h"

namespace tunesmith::test {

/// `params`: "{n: 4}"; `inputs` and `compute` as in a workload file. The last statement computes the output
/// `O`.
inline Program make_program(const std::string& params, const std::string& inputs, const std::string& compute,
                            const std::string& let = "") {
  std::string yaml = "name: test\nparams: " + params + "\n";
  if (!let.empty()) yaml += "let: " + let + "\n";
  yaml += "inputs: " + inputs + "\ncompute: |\n  " + compute + "\noutputs: [O]\n";
  return WorkloadDefinition::parse(yaml, "test.yaml").instantiate().program;
}

/// conv2d of the library's form, one group, as "h=..": a padded copy P and a sum O.
inline Program make_conv(int64_t size, int64_t channels, int64_t kernel, int64_t stride, int64_t padding,
                         int64_t dilation) {
  const int64_t out = (size + 2 * padding - (kernel - 1) * dilation - 1) / stride + 1;
  return make_program(
      fmt::format("{{h: {}, ci: {}, co: 4, k: {}, s: {}, p: {}, d: {}, oh: {}}}", size, channels, kernel,
                  stride, padding, dilation, out),
      "{X: {shape: [h, h, ci], dtype: i32}, W: {shape: [k, k, ci, co], dtype: i32}}",
      "P[y<h + 2*p, x<h + 2*p, c<ci] = inside(X[y - p, x - p, c], 0)\n"
      "  O[y<oh, x<oh, f<co] = sum(ky<k, kx<k, c<ci) P[y*s + ky*d, x*s + kx*d, c] * W[ky, kx, c, f]");
}

/// Runs on inputs that show wrong indexing, and detects races and unwritten elements. Returns the outputs.
inline std::vector<Tensor> run(const Program& program) {
  std::vector<Tensor> arguments;
  uint64_t seed = 1;
  for (const Buffer& input : program.inputs) {
    arguments.push_back(Tensor::like(*input));
    arguments.back().fill_random(seed++);
  }
  for (const Buffer& output : program.outputs) arguments.push_back(Tensor::like(*output));
  interpret(program, arguments);
  return {arguments.begin() + static_cast<std::ptrdiff_t>(program.inputs.size()), arguments.end()};
}

/// `tolerance`: the largest difference; 0 if the order of sums is the same.
inline void expect_same_results(const Program& before, const Program& after, double tolerance = 0.0) {
  try {
    const std::vector<Tensor> wanted = run(before);
    const std::vector<Tensor> got = run(after);
    ASSERT_EQ(wanted.size(), got.size());
    for (size_t i = 0; i < wanted.size(); ++i)
      EXPECT_LE(max_error(wanted[i], got[i]), tolerance) << to_string(after);
  } catch (const InterpreterError& error) {
    FAIL() << error.what() << "\n" << to_string(after);
  }
}

/// Lowering keeps the schedule's results; refused programs are skipped.
inline void expect_lowers(const Program& before, const Program& after, double tolerance = 0.0) {
  try {
    expect_same_results(before, lower(after, LowerOptions{}).program, tolerance);
  } catch (const LowerError&) {
  }
}

/// After every transformation, the program is well formed, has the same results, and its trace replays.
inline void expect_sound(const Program& before, const Schedule& after, double tolerance = 0.0) {
  EXPECT_EQ(verify(after.program()), "") << text_of(after);
  expect_same_results(before, after.program(), tolerance);
  expect_lowers(before, after.program(), tolerance);
  expect_replays(before, after);
}

}  // namespace tunesmith::test
