// Definitions that are applied to arrays, as operators of networks are.
#include "tunesmith/workload/apply.h"

#include <cmath>
#include <limits>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/support/error.h"
#include "tunesmith/workload/statements.h"

namespace tunesmith::workload {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

WorkloadDefinition norm() {
  return WorkloadDefinition::parse(R"(
name: norm
operator: com.example.Norm
params: {n: 1, c: 1, dtype: f32, epsilon: 0.5, power: 2, shift: -1.5}
let: {half: c // 2}
require: [c % 2 == 0]
inputs:
  X: {shape: [n, c], dtype: dtype}
  W: {shape: [half, 2], dtype: f32}
compute: |
  S[i<n] = (sum(j<c) X[i, j] * X[i, j]) + dtype(epsilon)
  Y[i, j] = X[i, j] / S[i] + dtype(W[j // 2, j % 2]) + shift
  Z[i, k<power] = S[i]
outputs: [Y, Z]
)",
                                   "norm.yaml");
}

std::string refusal_of(const std::vector<ArrayType>& inputs,
                       const std::map<std::string, AttributeValue>& attributes = {}, size_t outputs = 2) {
  try {
    apply(norm(), inputs, attributes, outputs);
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(ApplyDefinition, TakesParametersFromInputsAndAttributes) {
  const AppliedDefinition applied =
      apply(norm(), {{kF16, {3, 4}}, {kF32, {2, 2}}}, {{"epsilon", 1e-6}, {"power", int64_t{5}}}, 2);
  ASSERT_EQ(applied.outputs.size(), 2u);
  EXPECT_EQ(applied.outputs[0].dtype, kF16);
  EXPECT_THAT(applied.outputs[0].shape, ElementsAre(3, 4));
  EXPECT_THAT(applied.outputs[1].shape, ElementsAre(3, 5));
  EXPECT_EQ(applied.statements,
            "t0[i<3] = (sum(j<4) (in0[i, j] * in0[i, j])) + f16(1e-06)\n"
            "out0[i<3, j<4] = in0[i, j] / t0[i] + f16(in1[j // 2, j % 2]) + -1.5\n"
            "out1[i<3, k<5] = t0[i]\n");
}

TEST(ApplyDefinition, LeavesOutOutputsThatAreNotAskedFor) {
  const AppliedDefinition applied = apply(norm(), {{kF32, {3, 4}}, {kF32, {2, 2}}}, {}, 1);
  EXPECT_EQ(applied.outputs.size(), 1u);
  EXPECT_THAT(applied.statements, HasSubstr("\nt1[i<3, k<2] = t0[i]\n"));
  EXPECT_THAT(applied.statements, HasSubstr("f32(0.5)"));
  const AppliedDefinition large = apply(norm(), {{kF32, {3, 4}}, {kF32, {2, 2}}}, {{"shift", -1e30}}, 1);
  EXPECT_THAT(large.statements, HasSubstr(" + -1e+30\n"));
  EXPECT_EQ(parse_statements(large.statements, "a node").size(), 3u);
}

TEST(ApplyDefinition, RefusesWhatDoesNotFit) {
  EXPECT_THAT(refusal_of({{kF32, {3, 4}}}), HasSubstr("it takes 2 inputs, found 1"));
  EXPECT_THAT(refusal_of({{kF32, {4}}, {kF32, {2, 2}}}), HasSubstr("input 1 ('X') has 2 dimensions, not 1"));
  EXPECT_THAT(refusal_of({{kF32, {3, 4}}, {kF32, {3, 2}}}),
              HasSubstr("input 2 ('W') is f32[3, 2], where f32[2, 2] is expected"));
  EXPECT_THAT(refusal_of({{kF32, {3, 4}}, {kF16, {2, 2}}}), HasSubstr("where f32[2, 2] is expected"));
  EXPECT_THAT(refusal_of({{kF32, {3, 5}}, {kF32, {2, 2}}}), HasSubstr("norm requires c % 2 == 0"));
  EXPECT_THAT(refusal_of({{kF32, {3, 4}}, {kF32, {2, 2}}}, {{"epsilom", 1.0}}),
              HasSubstr("did you mean 'epsilon'?"));
  // What an input says is no attribute.
  EXPECT_THAT(refusal_of({{kF32, {3, 4}}, {kF32, {2, 2}}}, {{"n", int64_t{3}}}),
              HasSubstr("attribute 'n' is not a parameter"));
  constexpr double kInfinity = std::numeric_limits<double>::infinity();
  for (const AttributeValue value : {AttributeValue(kInfinity), AttributeValue(std::nan("")),
                                     AttributeValue(std::numeric_limits<int64_t>::min())})
    EXPECT_THAT(refusal_of({{kF32, {3, 4}}, {kF32, {2, 2}}}, {{"epsilon", value}}),
                HasSubstr("which the workload language cannot express"));
  EXPECT_THAT(refusal_of({{kF32, {3, 4}}, {kF32, {2, 2}}}, {}, 3), HasSubstr("it has 2 outputs, expected 3"));
}

}  // namespace
}  // namespace tunesmith::workload
