// Analyses of blocks, and tensor intrinsics, through the tables and the wrapper. As in a plugin, nothing else
// of the kernel is included.
#include <gtest/gtest.h>

#include <tunesmith/stable/module.h>

#include "api/host.h"
#include "unit/api/test_schedule.h"
#include "unit/api/test_unit.h"

namespace {

using namespace tunesmith;

using Extents = std::vector<int64_t>;
using Positions = std::vector<size_t>;

class StableAnalysis : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(detail::start(&api::k_host), nullptr); }
  static Schedule gmm() { return Schedule(tunesmith_test::make_gmm_schedule()); }
  static Schedule relu() { return Schedule(tunesmith_test::make_relu_schedule()); }
  static uint32_t kind_of(tunesmith_error* error) {
    if (error == nullptr) return 0;
    return detail::ErrorHandle(error).info().kind;
  }
};

TEST_F(StableAnalysis, IndicesSayWhichIteratorsTheyFollow) {
  Schedule schedule = gmm();
  const BlockRV block = schedule.get_block("C");
  const std::vector<Access> reads = read_accesses(schedule.block(block));
  ASSERT_EQ(reads.size(), 2U);
  EXPECT_EQ(reads[1].buffer->name, "B");
  EXPECT_EQ(reads[1].buffer->shape, (Extents{8, 16}));
  ASSERT_EQ(reads[1].indices.size(), 2U);
  EXPECT_EQ(reads[1].indices[0].iterator, 2U);
  EXPECT_EQ(reads[1].indices[1].iterator, 1U);
  EXPECT_FALSE(reads[1].uses(0));
  EXPECT_TRUE(reads[1].uses(1));
  EXPECT_EQ(writes_of(schedule.block(block)).front().buffer->name, "C");
  // One index has both halves of a row, another one half.
  schedule.transform_block_layout(block, "(i, j, k) -> (i // 4, i % 4, j, k)");
  const std::vector<Access> cut = schedule.read_accesses(block);
  EXPECT_EQ(cut[0].indices[0].iterator, std::nullopt);
  EXPECT_EQ(cut[0].indices[0].constant, std::nullopt);
  EXPECT_EQ(cut[0].indices[0].used, (Positions{0, 1}));
  EXPECT_EQ(cut[0].indices[1].iterator, 3U);
}

TEST_F(StableAnalysis, AProductOfMatricesIsFoundOrItIsSaidWhyNot) {
  const Schedule schedule = relu();
  const Program program = schedule.program();
  MatrixProduct product;
  EXPECT_EQ(match_matrix_product(*program.find_block("C"), &product), "");
  EXPECT_EQ(product.factors, (std::array<size_t, 2>{0, 1}));
  EXPECT_EQ(product.reduction_inside, (std::array<bool, 2>{true, false}));
  EXPECT_EQ(product.index_map, "");
  EXPECT_EQ(product.extents, (Extents{16, 16, 8}));
  MatrixProduct untouched;
  untouched.extents = {7};
  EXPECT_EQ(match_matrix_product(*program.find_block("R"), &untouched),
            "the block is not a sum of products of two factors");
  EXPECT_EQ(untouched.extents, (Extents{7}));
}

TEST_F(StableAnalysis, WhatReadsElementByElementIsFound) {
  Schedule schedule = relu();
  const Program program = schedule.program();
  const Pointer<Block> reader = element_reader(program, *program.find_block("C"));
  ASSERT_TRUE(reader);
  EXPECT_EQ(reader->name, "R");
  EXPECT_FALSE(element_reader(program, *program.find_block("R")));  // it writes the output
  // A transposing copy also reads every element once; another reader does not.
  schedule.cache_write(schedule.get_block("C"), 0, "global");
  const Program copied = schedule.program();
  EXPECT_EQ(element_reader(copied, *copied.find_block("C"))->name, "C_global");
}

TEST_F(StableAnalysis, IntrinsicsAreFoundByName) {
  const Schedule schedule(tunesmith_test::make_schedule_with_unit());
  EXPECT_FALSE(schedule.intrinsic("test_no_such"));
  const std::optional<TensorIntrinsic> dot = schedule.intrinsic("test_dot_2x3");
  ASSERT_TRUE(dot);
  EXPECT_EQ(dot->name, "test_dot_2x3");
  EXPECT_TRUE(dot->has_reduction());
  EXPECT_FALSE(dot->copies);
  EXPECT_FALSE(dot->bulk_copy);
  EXPECT_EQ(dot->extents(IterKind::Spatial), (Extents{2}));
  EXPECT_EQ(dot->extents(IterKind::Reduction), (Extents{3}));
  ASSERT_EQ(dot->operands.size(), 3U);
  EXPECT_EQ(dot->operands[2].buffer->name, "B");
  EXPECT_EQ(dot->operands[2].buffer->shape, (Extents{2, 3}));
  EXPECT_EQ(dot->operands[2].buffer->dtype, kF64);
  EXPECT_EQ(dot->operands[2].alignment, 1);
  ASSERT_EQ(dot->reads.size(), 2U);
  EXPECT_EQ(dot->iters[*dot->reads[0].indices.back().iterator].kind, IterKind::Reduction);
  const std::optional<TensorIntrinsic> transpose = schedule.intrinsic("test_transpose_2x2");
  ASSERT_TRUE(transpose);
  EXPECT_TRUE(transpose->copies);
  EXPECT_EQ(transpose->reads[0].indices[1].iterator, 1U);
  EXPECT_EQ(transpose->writes[0].indices[0].iterator, 0U);
  // Two calls return the same object of the kernel.
  const tunesmith_intrinsic *first = nullptr, *second = nullptr;
  Schedule owner(tunesmith_test::make_schedule_with_unit());
  tunesmith_schedule* handle = owner.release();
  EXPECT_EQ(detail::tables.intrinsic->find(handle, detail::text("test_copy_3"), &first), nullptr);
  EXPECT_EQ(detail::tables.intrinsic->find(handle, detail::text("test_copy_3"), &second), nullptr);
  EXPECT_NE(first, nullptr);
  EXPECT_EQ(first, second);
  detail::tables.schedule->release(handle);
}

TEST_F(StableAnalysis, AnExtensionGivesItsIntrinsics) {
  const ModuleContext context(tunesmith_test::context_with_unit());
  EXPECT_TRUE(context.intrinsics("other").empty());
  const std::vector<TensorIntrinsic> unit = context.intrinsics("unit");
  ASSERT_GT(unit.size(), 3U);
  EXPECT_EQ(unit.front().name, "test_dot_2x3");
}

TEST_F(StableAnalysis, MistakesOfTheCallerAreMisuse) {
  Schedule owner = gmm();
  const uint32_t block = static_cast<uint32_t>(owner.program().find_block("C")->id);
  tunesmith_schedule* schedule = owner.release();
  const tunesmith_program* program = detail::tables.schedule->program(schedule);
  const tunesmith_analysis_table& analysis = *detail::tables.analysis;
  const tunesmith_intrinsic_table& intrinsics = *detail::tables.intrinsic;
  const uint32_t misuse = TUNESMITH_ERROR_KIND_MISUSE;
  tunesmith_span span = {};
  tunesmith_matrix_product product = {};
  product.size = sizeof(product);
  tunesmith_text reason = {};
  uint32_t reader = 0;
  EXPECT_EQ(kind_of(analysis.accesses(program, 12345, TUNESMITH_ACCESS_SORT_READS, &span)), misuse);
  EXPECT_EQ(kind_of(analysis.accesses(program, block, TUNESMITH_ACCESS_SORT_READS, nullptr)), misuse);
  EXPECT_EQ(kind_of(analysis.accesses(program, block, 1000, &span)), TUNESMITH_ERROR_KIND_UNSUPPORTED);
  EXPECT_EQ(kind_of(analysis.matrix_product(nullptr, block, &product, &reason)), misuse);
  EXPECT_EQ(kind_of(analysis.matrix_product(program, block, &product, nullptr)), misuse);
  EXPECT_EQ(kind_of(analysis.element_reader(program, block, nullptr)), misuse);
  EXPECT_EQ(kind_of(analysis.element_reader(program, 12345, &reader)), misuse);
  EXPECT_EQ(kind_of(intrinsics.of_extension(nullptr, detail::text("unit"), &span)), misuse);
  EXPECT_EQ(kind_of(intrinsics.find(schedule, detail::text("x"), nullptr)), misuse);
  detail::tables.schedule->release(schedule);
}

// An older caller's struct is shorter; nothing behind its end is written.
TEST_F(StableAnalysis, AnOlderCallersProductIsFilledAsFarAsItGoes) {
  Schedule owner = gmm();
  const uint32_t block = static_cast<uint32_t>(owner.program().find_block("C")->id);
  tunesmith_schedule* schedule = owner.release();
  tunesmith_matrix_product product = {};
  product.size = offsetof(tunesmith_matrix_product, index_map);
  product.extent_count = 77;
  tunesmith_text reason = {};
  EXPECT_EQ(detail::tables.analysis->matrix_product(detail::tables.schedule->program(schedule), block,
                                                    &product, &reason),
            nullptr);
  EXPECT_EQ(product.factor_of_columns, 1U);
  EXPECT_EQ(product.extent_count, 77U);
  detail::tables.schedule->release(schedule);
}

TEST(StableTypes, HaveNames) {
  EXPECT_EQ(kF16.str(), "f16");
  EXPECT_EQ(kBF16.str(), "bf16");
  EXPECT_EQ(kU8.str(), "u8");
  EXPECT_EQ(kBool.str(), "bool");
  EXPECT_EQ(kIndex.str(), "index");
  EXPECT_EQ(DType(tunesmith_type{TUNESMITH_TYPE_CODE_FLOAT, 32, 8}).str(), "f32x8");
}

TEST(StableExecutionModel, FindsAxesAndThoseOfGroups) {
  ExecutionModel model;
  model.levels = {{.name = "block", .axes = {"x", "y"}, .most = {8, 8}, .max_together = 8},
                  {.name = "team", .axes = {"x"}, .most = {8}, .max_together = 8, .group = 32},
                  {.name = "thread", .axes = {"x"}, .most = {64}, .max_together = 64}};
  EXPECT_EQ(model.find_axis("block.y"), (ExecutionModel::Axis{0, 1}));
  EXPECT_EQ(model.find_axis("block.z"), std::nullopt);
  EXPECT_EQ(model.group_axis(1), (ExecutionModel::Axis{2, 0}));
  EXPECT_EQ(model.group_axis(2), std::nullopt);
}

}  // namespace
