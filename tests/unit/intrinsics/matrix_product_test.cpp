// Recognises products of matrices, with the axes of their rows and columns.
#include "tunesmith/intrinsics/matrix_product.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/workload/library.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

struct Answer {
  std::string reason;
  MatrixProduct product;
};

/// The answer for the last block that reduces.
Answer answer_of(const Program& program) {
  const Block* block = nullptr;
  for (const Block* one : program.blocks()) block = one->has_reduction() ? one : block;
  Answer answer;
  answer.reason = match_matrix_product(*block, &answer.product);
  return answer;
}

Answer of_workload(const std::string& text) { return answer_of(WorkloadLibrary().load(text).program); }

Answer of_text(const std::string& inputs, const std::string& compute) {
  const std::string text =
      "name: t\nparams: {n: 1}\ninputs: {" + inputs + "}\ncompute: |\n  " + compute + "\noutputs: [O]\n";
  return answer_of(WorkloadDefinition::parse(text, "t.yaml").instantiate().program);
}

TEST(MatrixProduct, BatchesOfProductsAreAsTheyAre) {
  const Answer plain = of_workload("gmm:b=1,n=8,m=4,k=5");
  EXPECT_EQ(plain.reason, "");
  EXPECT_EQ(plain.product.index_map, "");
  EXPECT_EQ(plain.product.extents, (std::vector<int64_t>{1, 8, 4, 5}));
  EXPECT_EQ(plain.product.reduction_inside, (std::array<bool, 2>{true, false}));
  const Answer turned = of_workload("gram:b=3,n=8,k=5");
  EXPECT_EQ(turned.product.index_map, "");
  EXPECT_EQ(turned.product.reduction_inside, (std::array<bool, 2>{true, true}));
  const Answer both = of_text("A: {shape: [5, 8], dtype: f32}, B: {shape: [4, 5], dtype: f32}",
                              "O[i<8, j<4] = sum(k<5) A[k, i] * B[j, k]");
  EXPECT_EQ(both.product.reduction_inside, (std::array<bool, 2>{false, true}));
}

TEST(MatrixProduct, AxesOfOneFactorAreOne) {
  const Answer convolution = of_workload("conv2d:h=8,w=6,ci=4,co=16,kernel=3");
  EXPECT_EQ(convolution.reason, "");
  EXPECT_EQ(convolution.product.index_map,
            "(v0, v1, v2, v3, v4, v5, v6) -> ((v0 * 8 + v1) * 6 + v2, v3, (v4 * 3 + v5) * 4 + v6)");
  EXPECT_EQ(convolution.product.extents, (std::vector<int64_t>{48, 16, 36}));
  EXPECT_EQ(of_text("A: {shape: [2, 8, 5], dtype: f32}, B: {shape: [5, 4], dtype: f32}",
                    "O[b<2, i<8, j<4] = sum(k<5) A[b, i, k] * B[k, j]")
                .product.index_map,
            "(v0, v1, v2, v3) -> (v0 * 8 + v1, v2, v3)");
}

TEST(MatrixProduct, GroupsAndPhasesAreTakenApart) {
  EXPECT_EQ(of_workload("conv1d:l=8,ci=4,co=16,kernel=3,groups=2").product.index_map,
            "(v0, v1, v2, v3, v4) -> (v2 // 8, v0 * 8 + v1, v2 % 8, v3 * 2 + v4)");
  EXPECT_EQ(of_workload("transposed_conv2d:h=4,w=3,ci=2,co=5,kernel=4,stride=2").product.index_map,
            "(v0, v1, v2, v3, v4, v5, v6) -> (v1 % 2, v2 % 2, (v0 * 4 + v1 // 2) * 3 + v2 // 2, v3, "
            "(v4 * 2 + v5) * 2 + v6)");
}

TEST(MatrixProduct, ColumnsLieFurtherInOfTheResult) {
  const Answer answer = of_text("A: {shape: [5, 8], dtype: f32}, B: {shape: [4, 5], dtype: f32}",
                                "O[j<4, i<8] = sum(k<5) A[k, i] * B[j, k]");
  EXPECT_EQ(answer.product.factors, (std::array<size_t, 2>{1, 0}));
  EXPECT_EQ(answer.product.index_map, "");
  EXPECT_EQ(answer.product.reduction_inside, (std::array<bool, 2>{true, false}));
}

TEST(MatrixProduct, WhatIsNoneIsSaid) {
  const std::string two = "A: {shape: [8, 5], dtype: f32}, B: {shape: [8, 5], dtype: f32}";
  const std::string own = "a factor has no axis of its own, along which the other is reused";
  EXPECT_EQ(of_workload("depthwise_conv2d:h=8,w=8,c=4,kernel=3").reason, own);
  EXPECT_EQ(of_workload("conv2d:h=8,w=8,ci=4,co=4,kernel=3,groups=4").reason, own);
  EXPECT_EQ(of_text(two, "O[i<8] = sum(k<5) A[i, k] * B[i, k]").reason, own);
  EXPECT_EQ(of_text(two, "O[i<8, j<8] = max(k<5) A[i, k] * B[j, k]").reason,
            "the block is not a sum of products of two factors");
  EXPECT_EQ(of_text("A: {shape: [8, 5], dtype: f32}", "O[i<8] = sum(k<5) A[i, k]").reason,
            "the block is not a sum of products of two factors");
  EXPECT_EQ(of_text(two, "O[i<8, j<8] = sum(k<5, l<5) A[i, k] * B[j, l]").reason,
            "the block reduces over an axis that one factor alone has");
  EXPECT_EQ(of_text(two, "O[i<8, j<8, z<2] = sum(k<5) A[i, k] * B[j, k]").reason,
            "the block repeats its result along an axis");
}

}  // namespace
}  // namespace tunesmith
