#include "tunesmith/lower/pipeline.h"

#include <fstream>
#include <iterator>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/verification/interpreter.h>

#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;
using testing::HasSubstr;

std::vector<std::string> names_of(const Pipeline& pipeline) {
  std::vector<std::string> names;
  for (const LoweringStep& step : pipeline.steps()) names.push_back(step.name);
  return names;
}

/// Lowers step by step; the program's results must stay the same. Returns the number of steps that changed
/// it.
int expect_same_after_each_step(const Schedule& schedule) {
  LowerOptions options = small_machine();
  options.prepare = true;
  const std::vector<Tensor> arguments = random_arguments(schedule.program());
  std::vector<Tensor> wanted = arguments;
  interpret(schedule.program(), wanted);
  std::string before = to_string(schedule.program());
  int changed = 0;
  lower(schedule.program(), options, standard_pipeline(),
        [&](const LoweringStep& step, const LoweringState& state) {
          std::vector<Tensor> got = arguments;
          EXPECT_NO_THROW(interpret(state.lowered, got, {.check_uninitialized = false})) << step.name;
          EXPECT_EQ(got, wanted) << step.name << to_string(state.lowered.program);
          std::string after = to_string(state.lowered.program);
          changed += after == before ? 0 : 1;
          before = std::move(after);
        });
  return changed;
}

TEST(Pipeline, AProductWithRaggedTilesAndPackedWeights) {
  Schedule s(program_of("A: {shape: [7, 9], dtype: i32}, W: {shape: [9, 20], dtype: i32, constant: true}",
                        "O[i<7, j<20] = sum(k<9) A[i, k] * W[k, j]"));
  const BlockRV block = s.get_block("O");
  const BlockRV packed = s.cache_read(block, 1, kScopeGlobal);
  s.transform_layout(packed, "write", 0, "(k, j) -> (j // 4, k, j % 4)");
  const BlockRV out = s.cache_write(block, 0, "local");
  const std::vector<LoopRV> loops = s.get_loops(block);
  const std::vector<LoopRV> rows = s.split(loops[0], {std::nullopt, 4});
  const std::vector<LoopRV> columns = s.split(loops[1], {std::nullopt, 8});
  s.reorder({rows[0], columns[0], loops[2], rows[1], columns[1]});
  s.reverse_compute_at(out, columns[0]);
  s.parallel(rows[0]);
  s.decompose_reduction(block, loops[2]);
  s.vectorize(columns[1]);
  EXPECT_GE(expect_same_after_each_step(s), 6);
}

TEST(Pipeline, PaddingADoubleBufferAndAlignedStrides) {
  Schedule s(program_of("A: {shape: [6, 5], dtype: i32}",
                        "P[i<8, j<5] = inside(A[i - 1, j], 0)\n  Q[i<8, j<5] = P[i, j] * 3\n"
                        "  O[i<6, j<5] = Q[i, j] + Q[i + 2, j]"));
  s.storage_align(s.get_block("Q"), 0, 0, 4, 1);
  const BlockRV out = s.get_block("O");
  const BlockRV copy = s.read_at(s.get_loops(out)[0], out, 1, "local");
  s.annotate(copy, "double_buffer", int64_t{1});
  s.vectorize(s.get_loops(s.get_block("P"))[1]);
  EXPECT_GE(expect_same_after_each_step(s), 5);
}

TEST(Pipeline, AReductionWithATemporaryOfItsOwn) {
  Schedule s(program_of("A: {shape: [5, 33], dtype: i32}",
                        "M[i<5] = max(j<33) A[i, j]\n  O[i<5, j<33] = A[i, j] - M[i]"));
  s.compute_at(s.get_block("M"), s.get_loops(s.get_block("O"))[0]);
  s.vectorize(s.get_loops(s.get_block("O"))[1]);
  EXPECT_GE(expect_same_after_each_step(s), 4);
}

TEST(Pipeline, StepsAreInsertedByName) {
  Pipeline pipeline = standard_pipeline();
  int programs = 0;
  pipeline.insert_before("plan_memory", program_step("count", [&](Program&) { ++programs; }));
  pipeline.insert_after("lower_blocks", {"first", [](LoweringState&) {}});
  std::vector<std::string> expected = names_of(standard_pipeline());
  expected.insert(std::find(expected.begin(), expected.end(), "plan_memory"), "count");
  expected.insert(std::find(expected.begin(), expected.end(), "split_buffers"), "first");
  EXPECT_EQ(names_of(pipeline), expected);

  lower(gmm(2, 3, 4), small_machine(), pipeline);
  EXPECT_EQ(programs, 1);
}

TEST(Pipeline, AnUnknownStepIsNamedWithTheNearest) {
  Pipeline pipeline = standard_pipeline();
  try {
    pipeline.insert_after("flaten", {"mine", [](LoweringState&) {}});
    FAIL() << "not refused";
  } catch (const LowerError& error) {
    EXPECT_EQ(error.reason(), "unknown lowering step");
    EXPECT_THAT(error.what(), HasSubstr("did you mean 'flatten'?"));
  }
}

TEST(Pipeline, TheDocsListTheStandardStepsInOrder) {
  std::ifstream file(TUNESMITH_SOURCE_DIR "/docs/architecture.md");
  std::string text(std::istreambuf_iterator<char>(file), {});
  std::erase(text, '\n');
  std::string listed;
  for (const std::string& name : names_of(standard_pipeline()))
    listed += (listed.empty() ? "`" : " → `") + name + "`";
  const auto without_spaces = [](std::string line) {
    std::erase(line, ' ');
    return line;
  };
  EXPECT_THAT(without_spaces(text), HasSubstr(without_spaces(listed)));
}

}  // namespace
}  // namespace tunesmith
