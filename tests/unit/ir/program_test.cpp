#include <gtest/gtest.h>

#include <tunesmith/ir/lowered_stmt.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/program.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

TEST(Program, CloneIsIndependent) {
  Program program = test::make_gmm(4, 5, 6);
  const std::string before = to_string(program);
  Program copy = program.clone();
  EXPECT_EQ(to_string(copy), before);
  copy.find_block("C")->name = "D";
  loops_above(*copy.find_block("D"))[0]->loop_kind = LoopKind::Parallel;
  copy.annotations["x"] = int64_t{1};
  EXPECT_EQ(to_string(program), before);
  EXPECT_NE(to_string(copy), before);
}

TEST(Program, ClonesGoOnWithFreshIds) {
  Program program = test::make_gmm(4, 5, 6);
  Program copy = program.clone();
  const auto block = copy.make_block("C", {}, {}, nullptr, std::make_unique<Seq>());
  EXPECT_EQ(copy.find_block(block->id), nullptr);
  EXPECT_EQ(block->name, "C_1");
  const auto loop = copy.make_loop(Var("i"), 3, std::make_unique<Seq>());
  EXPECT_EQ(copy.find_loop(loop->id), nullptr);
}

TEST(Program, FindsByIdAndName) {
  const Program program = test::make_gmm(4, 5, 6);
  Block* block = program.find_block("C");
  ASSERT_NE(block, nullptr);
  EXPECT_EQ(program.find_block(block->id), block);
  EXPECT_EQ(program.find_block("D"), nullptr);
  Loop* innermost = loops_above(*block)[2];
  EXPECT_EQ(program.find_loop(innermost->id), innermost);
  EXPECT_EQ(program.blocks(), std::vector<Block*>{block});
  const Program copy = program.clone();
  EXPECT_NE(copy.find_block(block->id), block);
  EXPECT_EQ(copy.find_block(block->id)->name, "C");
}

TEST(Program, FreshNamesAvoidAllBuffers) {
  Program program = test::make_gmm(4, 5, 6);
  program.intermediates.push_back(make_buffer("C_1", kF32, {4}));
  EXPECT_EQ(program.fresh_buffer_name("C"), "C_2");
  EXPECT_EQ(program.fresh_buffer_name("D"), "D");
  const Buffer local = make_buffer("D", kF32, {4});
  program.root().append(std::make_unique<Allocate>(local, std::make_unique<Seq>()));
  EXPECT_EQ(program.fresh_buffer_name("D"), "D_1");
  EXPECT_EQ(program.fresh_block_name("C"), "C_1");
}

TEST(Program, SwapBufferReachesListsLoadsAndStores) {
  Program program = test::make_gmm(4, 5, 6);
  const Buffer other = make_buffer("Z", kF32, {4, 5}, kScopeLocal);
  program.swap_buffer(program.outputs[0], other);  // the argument is an element of the list that changes
  EXPECT_EQ(program.outputs[0], other);
  EXPECT_EQ(program.buffers().size(), 3u);
  EXPECT_EQ(to_string(*program.find_block("C")->body()), "Z[vi, vj] = Z[vi, vj] + A[vi, vk]*B[vk, vj]\n");
  EXPECT_EQ(to_string(*program.find_block("C")->init()), "Z[vi, vj] = 0.0\n");
}

TEST(Buffer, SizesFollowStrides) {
  const Buffer plain = make_buffer("X", kF16, {3, 4, 5});
  EXPECT_EQ(plain->elements(), 60);
  EXPECT_EQ(plain->bytes(), 120);
  EXPECT_EQ(plain->effective_strides(), (std::vector<int64_t>{20, 5, 1}));
  const Buffer padded = make_buffer("Y", kF32, {3, 4}, kScopeGlobal, false, {8, 1});
  EXPECT_EQ(padded->elements(), 12);
  EXPECT_EQ(padded->span(), 20);
  EXPECT_EQ(padded->bytes(), 80);
  EXPECT_EQ(make_buffer("Z", kF32, {})->elements(), 1);
}

}  // namespace
}  // namespace tunesmith
