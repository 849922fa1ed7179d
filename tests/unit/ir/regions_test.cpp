#include <limits>

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/regions.h>
#include <tunesmith/support/error.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

std::string text_of(const std::vector<Access>& accesses) {
  std::string text;
  for (const Access& access : accesses) text += to_string(load(access.buffer, access.indices)) + "; ";
  return text;
}

/// gmm followed by D = C + C, element by element.
Program gmm_then_double() {
  Program program = test::make_gmm(4, 5, 6);
  const Buffer c = program.outputs[0];
  const Buffer d = make_buffer("D", kF32, {4, 5});
  program.outputs = {d};
  program.intermediates = {c};
  const Var i("i"), j("j"), vi("vi"), vj("vj");
  auto block = program.make_block(
      "D", {{vi, 4, IterKind::Spatial}, {vj, 5, IterKind::Spatial}}, {i, j}, nullptr,
      std::make_unique<Store>(d, std::vector<Expr>{vi, vj}, load(c, {vi, vj}) + load(c, {vi, vj})));
  program.root().append(program.make_loop(i, 4, program.make_loop(j, 5, std::move(block))));
  return program;
}

TEST(Regions, AnInitialisedAccumulatorIsNotARead) {
  Program program = test::make_gmm(4, 5, 6);
  Block* block = program.find_block("C");
  EXPECT_EQ(text_of(reads_of(*block)), "A[vi, vk]; B[vk, vj]; ");
  EXPECT_EQ(text_of(writes_of(*block)), "C[vi, vj]; ");
  block->take_init();
  EXPECT_EQ(text_of(reads_of(*block)), "C[vi, vj]; A[vi, vk]; B[vk, vj]; ");
}

TEST(Regions, DuplicatesCountOnce) {
  const Program program = gmm_then_double();
  EXPECT_EQ(text_of(reads_of(*program.find_block("D"))), "C[vi, vj]; ");
}

TEST(Regions, MasksAndConditionsAreRead) {
  const Buffer x = make_buffer("X", kI64, {8}), y = make_buffer("Y", kI64, {8}),
               z = make_buffer("Z", kI64, {8});
  const Var v("v");
  auto store =
      std::make_unique<Store>(z, std::vector<Expr>{v}, load(x, {v}, lt(load(y, {v}), int_imm(3, kI64))));
  Block block(BlockId{0}, "b", {{v, 8, IterKind::Spatial}}, {0}, nullptr,
              std::make_unique<If>(lt(load(y, {v + 1}), int_imm(2, kI64)), std::move(store)));
  EXPECT_EQ(text_of(reads_of(block)), "Y[v + 1]; X[v]; Y[v]; ");
}

TEST(Regions, VariablesOfInnerBlocksAreReplacedByTheirBindings) {
  const Buffer x = make_buffer("X", kF32, {64}), y = make_buffer("Y", kF32, {64});
  const Var outer("vo"), j("j"), inner("vi");
  auto nested =
      std::make_unique<Block>(BlockId{1}, "inner", std::vector<IterVar>{{inner, 64, IterKind::Spatial}},
                              std::vector<Expr>{outer * 8 + j}, nullptr,
                              std::make_unique<Store>(y, std::vector<Expr>{inner}, load(x, {inner})));
  Block block(BlockId{0}, "outer", {{outer, 8, IterKind::Spatial}}, {0}, nullptr,
              std::make_unique<Loop>(LoopId{2}, j, 0, 8, std::move(nested)));
  EXPECT_EQ(text_of(reads_of(block)), "X[vo*8 + j]; ");
  EXPECT_EQ(text_of(writes_of(block)), "Y[vo*8 + j]; ");
}

TEST(Regions, ProducersAndConsumers) {
  const Program program = gmm_then_double();
  Block* c = program.find_block("C");
  Block* d = program.find_block("D");
  EXPECT_EQ(producers_of(program, *d), std::vector<Block*>{c});
  EXPECT_EQ(consumers_of(program, *c), std::vector<Block*>{d});
  EXPECT_TRUE(producers_of(program, *c).empty());
  EXPECT_TRUE(consumers_of(program, *d).empty());
  EXPECT_EQ(writers_of(program, program.intermediates[0]), std::vector<Block*>{c});
  EXPECT_EQ(readers_of(program, program.intermediates[0]), std::vector<Block*>{d});
}

class MatchReduction : public testing::TestWithParam<std::tuple<ExprKind, double>> {};

TEST_P(MatchReduction, FindsOperatorAndTerm) {
  const auto [op, identity] = GetParam();
  const Program program = test::make_gmm(4, 5, 6, op, identity);
  const Block* block = program.find_block("C");
  ReductionPattern pattern{};
  ASSERT_TRUE(match_reduction(*block, &pattern));
  EXPECT_EQ(pattern.op, op);
  EXPECT_EQ(pattern.init, block->init());
  EXPECT_EQ(pattern.update, block->body());
  EXPECT_EQ(to_string(pattern.term), "A[vi, vk]*B[vk, vj]");
  EXPECT_TRUE(equal(pattern.init->value, reduction_identity(op, kF32)));
}

constexpr double kInfinity = std::numeric_limits<double>::infinity();
INSTANTIATE_TEST_SUITE_P(Operators, MatchReduction,
                         testing::Values(std::tuple{ExprKind::Add, 0.0}, std::tuple{ExprKind::Mul, 1.0},
                                         std::tuple{ExprKind::Min, kInfinity},
                                         std::tuple{ExprKind::Max, -kInfinity}));

TEST(MatchReductionRefuses, WhatIsNotOne) {
  ReductionPattern pattern{};
  const Program wrong_init = test::make_gmm(4, 5, 6, ExprKind::Add, 1.0);
  EXPECT_FALSE(match_reduction(*wrong_init.find_block("C"), &pattern));
  const Program difference = test::make_gmm(4, 5, 6, ExprKind::Sub);
  EXPECT_FALSE(match_reduction(*difference.find_block("C"), &pattern));
  const Program elementwise = gmm_then_double();
  EXPECT_FALSE(match_reduction(*elementwise.find_block("D"), &pattern));

  Program twice = test::make_gmm(4, 5, 6);
  Store* update = twice.find_block("C")->body()->as<Store>();
  update->value = update->value + load(update->buffer, update->indices);
  EXPECT_FALSE(match_reduction(*twice.find_block("C"), &pattern));
}

TEST(MatchReductionAccepts, TheAccumulatorOnTheRightAndNoInit) {
  Program program = test::make_gmm(4, 5, 6);
  Block* block = program.find_block("C");
  Store* update = block->body()->as<Store>();
  update->value = update->value.arg(1) + update->value.arg(0);
  block->take_init();
  ReductionPattern pattern{};
  ASSERT_TRUE(match_reduction(*block, &pattern));
  EXPECT_EQ(pattern.init, nullptr);
  EXPECT_EQ(to_string(pattern.term), "A[vi, vk]*B[vk, vj]");
}

TEST(ReductionIdentity, OfIntegers) {
  EXPECT_EQ(to_string(reduction_identity(ExprKind::Max, kI8)), "-128");
  EXPECT_EQ(to_string(reduction_identity(ExprKind::Min, kI8)), "127");
  EXPECT_EQ(to_string(reduction_identity(ExprKind::Max, kU8)), "0");
  EXPECT_EQ(to_string(reduction_identity(ExprKind::Min, kU8)), "255");
  EXPECT_EQ(to_string(reduction_identity(ExprKind::Max, kI64)), "-9223372036854775808");
  EXPECT_THROW(reduction_identity(ExprKind::Sub, kI32), InternalError);
}

}  // namespace
}  // namespace tunesmith
