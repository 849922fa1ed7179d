#include <tunesmith/intrinsics/tensor_intrinsic.h>
#include <tunesmith/target/extension_file.h>

#include "tunesmith/ir/visit.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

LowerOptions with_intrinsics(std::vector<TensorIntrinsicPtr> intrinsics) {
  LowerOptions options;
  options.intrinsics = std::move(intrinsics);
  return options;
}

std::vector<TensorIntrinsicPtr> test_intrinsics() {
  return ExtensionFile::load(TUNESMITH_SOURCE_DIR "/tests/intrinsics.yaml")->intrinsics();
}

Program make_product(const std::string& types = "f64", int64_t steps = 6) {
  return make_program(fmt::format("{{n: 4, m: 4, k: {}}}", steps),
                      "{A: {shape: [n, k], dtype: " + types + "}, B: {shape: [m, k], dtype: " + types + "}}",
                      "O[i<n, j<m] = sum(r<k) A[i, r] * B[j, r]");
}

/// Tiles the product for test_dot_2x3; returns the tile's outermost loop.
LoopRV tile(Schedule& schedule, BlockRV block, int64_t columns = 2, int64_t steps = 3) {
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopRV> j = schedule.split(loops[1], {std::nullopt, columns});
  const std::vector<LoopRV> r = schedule.split(loops[2], {std::nullopt, steps});
  schedule.reorder({j[0], r[0], j[1], r[1]});
  schedule.decompose_reduction(block, r[0]);
  return j[1];
}

TEST(Tensorize, ATileBecomesACall) {
  const std::vector<TensorIntrinsicPtr> known = test_intrinsics();
  const Program before = make_product("f64", 3);
  Schedule schedule(before);
  const LoopRV loop = tile(schedule, schedule.get_block("O"));
  const BlockRV call = schedule.tensorize(loop, "test_dot_2x3");
  EXPECT_NE(body_of(schedule).find("      block O_o(vi_o: spatial 4 = i, vj_o: spatial 2 = j_0):\n"
                                   "        annotate tensor_intrinsic = \"test_dot_2x3\"\n"
                                   "        for j_1 in 0..2:\n"
                                   "          for r_1 in 0..3:\n"
                                   "            O[vi_o, vj_o*2 + j_1] = O[vi_o, vj_o*2 + j_1] + "
                                   "A[vi_o, r_1]*B[vj_o*2 + j_1, r_1]\n"),
            std::string::npos)
      << body_of(schedule);
  expect_sound(before, schedule);
  EXPECT_EQ(schedule.get_loops(call).size(), 3U);
  EXPECT_THROW(schedule.unroll(loop), ScheduleError);
}

TEST(Tensorize, LoweringAsksForTheLayout) {
  const std::vector<TensorIntrinsicPtr> known = test_intrinsics();
  const auto scheduled = [](std::string_view map) {
    Schedule schedule(make_product());
    const BlockRV block = schedule.get_block("O");
    schedule.cache_read(block, 1, "global");
    schedule.transform_layout(block, "read", 1, map);
    schedule.tensorize(tile(schedule, block), "test_dot_2x3");
    return schedule;
  };
  // Contiguous panels of two columns by three steps.
  const Schedule packed = scheduled("(j, r) -> (j // 2, r // 3, j % 2, r % 3)");
  const LowerOptions options = with_intrinsics(known);
  const LoweredProgram lowered = lower(packed.program(), options);
  const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
  const auto calls = collect<Loop>(lowered.program.root(), is_call);
  ASSERT_EQ(calls.size(), 1U);
  const TensorCall call = tensor_call(*calls[0]);
  ASSERT_EQ(call.operands.size(), 3U);
  EXPECT_EQ(call.operands[0].buffer->name, "O");
  EXPECT_EQ(to_string(call.operands[1].offset), "i*6 + r_0*3");
  EXPECT_EQ(to_string(call.operands[2].offset), "j_0*12 + r_0*6");
  expect_same_results(make_product(), lowered.program);

  // In the input's layout, with six elements from row to row; and with the steps outside.
  for (const char* map : {"(j, r) -> (j, r)", "(j, r) -> (j // 2, r // 3, r % 3, j % 2)"}) {
    const Schedule other = scheduled(map);
    EXPECT_THROW(lower(other.program(), options), LowerError) << map;
    expect_same_results(make_product(), lower(other.program(), LowerOptions{}).program);
  }
}

TEST(Tensorize, ABlockThatBlockizeMade) {
  const std::vector<TensorIntrinsicPtr> known = test_intrinsics();
  const Program before = make_program("{n: 4, m: 6}", "{X: {shape: [n, m], dtype: f64}}",
                                      "B[i<n, j<m] = X[i, j]\n  O[i<n, j<m] = B[i, j] + 1");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("B");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopRV> j = schedule.split(loops[1], {std::nullopt, 3});
  schedule.tensorize(schedule.blockize(j[1]), "test_copy_3");
  expect_sound(before, schedule);
  expect_refused(schedule, "vectorize", "a tensor intrinsic stands inside the loop",
                 [&] { schedule.vectorize(j[0]); });
  schedule.parallel(loops[0]);
  expect_sound(before, schedule);
}

TEST(Tensorize, WhatIsAskedOfTheStorageIsKept) {
  const std::vector<TensorIntrinsicPtr> known = test_intrinsics();
  Schedule schedule(make_product("f64", 3));
  const BlockRV block = schedule.get_block("O");
  schedule.cache_write(block, 0, "global");
  schedule.storage_align(block, 0, -2, 8, 4);
  const BlockRV call = schedule.tensorize(tile(schedule, block), "test_dot_2x3");
  EXPECT_EQ(schedule.block(call).annotations.count("storage_align"), 1U) << body_of(schedule);
}

TEST(Tensorize, Refusals) {
  const std::vector<TensorIntrinsicPtr> known = test_intrinsics();
  const auto refused = [](const Program& program, int64_t columns, int64_t steps, const char* name,
                          const char* reason) {
    Schedule schedule(program);
    const LoopRV loop = tile(schedule, schedule.get_block("O"), columns, steps);
    expect_refused(schedule, "tensorize", reason, [&] { schedule.tensorize(loop, name); });
  };
  refused(make_product(), 2, 3, "dot", "unknown tensor intrinsic");
  refused(make_product(), 2, 2, "test_dot_2x3", "the loops' extents differ");
  refused(make_product("f32"), 2, 3, "test_dot_2x3", "the block computes something else");
  // The rows of an input have gaps, which no transformation changes.
  refused(make_product(), 2, 3, "test_dot_2x3", "an operand's layout differs from the intrinsic's");

  Schedule schedule(make_product());
  const BlockRV block = schedule.get_block("O");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  expect_refused(schedule, "tensorize", "the block initializes itself",
                 [&] { schedule.tensorize(loops[2], "test_dot_2x3"); });
  expect_refused(schedule, "tensorize", "the block does not hold one block under loops",
                 [&] { schedule.tensorize(block, "test_dot_2x3"); });
  schedule.decompose_reduction(block, loops[2]);
  schedule.unroll(loops[2]);
  expect_refused(schedule, "tensorize", "a loop of the tile is not serial",
                 [&] { schedule.tensorize(loops[2], "test_dot_2x3"); });
}

}  // namespace
}  // namespace tunesmith::test
