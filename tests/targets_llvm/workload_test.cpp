// Compares every built-in workload, lowered without a schedule and compiled, with the interpreter, the
// reference for candidates.
#include <fmt/format.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "random_arguments.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

class UnscheduledWorkload : public ::testing::TestWithParam<std::string> {};

INSTANTIATE_TEST_SUITE_P(Small, UnscheduledWorkload,
                         ::testing::Values("attention_scores:seq=11,heads=2,dim=5", "avg_pool2d:h=9,w=8,c=3",
                                           "capsule_conv2d:h=5,w=5,ci=2,co=3", "conv1d:l=13,ci=4,co=6",
                                           "conv2d:h=7,w=6,ci=4,co=6",
                                           "conv2d:h=7,w=6,ci=4,co=6,groups=2,stride=2,dilation=2,padding=2",
                                           "conv3d:d=4,h=5,w=5,ci=2,co=3",
                                           "conv_bias_bn_relu:h=5,w=5,ci=3,co=4", "dense_bias:n=7,m=11,k=13",
                                           "dense_bias_gelu:n=7,m=11,k=13", "depthwise_conv2d:h=7,w=6,c=5",
                                           "elementwise_chain:n=13,m=17", "gmm:n=13,m=17,k=19",
                                           "gmm:n=13,m=17,k=19,dtype=bf16", "gmm:n=13,m=17,k=19,dtype=f16",
                                           "gmm:n=13,m=17,k=19,dtype=i8", "gmm:n=5,m=6,k=7,dtype=f64",
                                           "layer_norm:m=5,n=37", "max_pool2d:h=9,w=8,c=3", "norm:m=9,n=10",
                                           "reduce_sum_1d:n=101", "reduce_sum_2d:m=11,n=13", "relu:n=11,m=13",
                                           "softmax:m=5,n=37", "transposed_conv2d:h=3,w=3,ci=4,co=5"),
                         [](const auto& tested) {
                           std::string name = tested.param;
                           for (char& c : name) {
                             if (std::isalnum(static_cast<unsigned char>(c)) == 0) c = '_';
                           }
                           return name;
                         });

TEST_P(UnscheduledWorkload, GivesTheInterpretersResult) {
  const auto target = testing::make_target();
  const Workload workload = WorkloadLibrary().load(GetParam());
  const LoweredProgram lowered = lower(workload.program, target->lower_options());
  std::vector<Tensor> expected = test::random_arguments(workload.program);
  const std::vector<Tensor> got = testing::run_guarded(*target, lowered, expected);
  interpret(workload.program, expected);
  for (size_t i = 0; i < expected.size(); ++i) {
    const double unit = unit_roundoff(expected[i].dtype);
    // Values reach a few tens at these sizes; contraction and functions move the last places.
    EXPECT_LE(max_error(got[i], expected[i]), unit * 400) << i;
  }
}

/// The innermost loop of every block vectorized, odd ends included.
TEST(VectorizedIntegers, GiveTheInterpretersResult) {
  const auto target = testing::make_target();
  for (const char* type : {"i64", "i32", "i8", "u8"}) {
    for (const int64_t columns : {1, 3, 5, 8, 13, 70}) {
      const std::string text = fmt::format(
          "name: t\nparams: {{n: {}}}\ninputs:\n  X: {{shape: [7, n], dtype: {}}}\n"
          "  Y: {{shape: [7, n], dtype: {}}}\ncompute: |\n  S[i<7, j<n] = X[i, j] + Y[i, j]\n"
          "  M[i<7, j<n] = select(S[i, j] + 1 > S[i, j], X[i, j] * 3, Y[i, j] - S[i, j]) + {}(j)\n"
          "outputs: [S, M]\n",
          columns, type, type, type);
      const Workload workload = WorkloadDefinition::parse(text, "t.yaml").instantiate();
      Schedule s(workload.program.clone());
      for (const char* block : {"S", "M"}) s.vectorize(s.get_loops(s.get_block(block)).back());
      const LoweredProgram lowered = lower(s.program(), target->lower_options());
      std::vector<Tensor> expected = test::random_arguments(workload.program);
      const std::vector<Tensor> got = testing::run_guarded(*target, lowered, expected);
      interpret(workload.program, expected);
      EXPECT_EQ(got, expected) << text;
    }
  }
}

}  // namespace
}  // namespace tunesmith
