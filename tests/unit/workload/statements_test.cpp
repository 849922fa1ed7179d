// Workloads made of parsed statements, and their printed text.
#include "tunesmith/workload/statements.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "parse.h"
#include "tunesmith/workload/definition.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

/// A workload with inputs x[4, 6] of f32 and i[4] of i64.
Workload made_of(const std::string& statements, std::vector<int64_t> shape = {4, 6}) {
  workload::Definition made;
  made.file = "a node";
  made.name = "test";
  for (const Buffer& input : {make_buffer("x", kF32, std::move(shape)), make_buffer("i", kI64, {4})})
    made.inputs.push_back(workload::input_syntax(*input));
  made.statements = workload::parse_statements(statements + "\ni2[j<4] = i[j]\n", "a node");
  for (const char* output : {"y", "i2"}) made.outputs.push_back({output, {}});
  made.strides["x"].strides = workload::integer_leaves(std::vector<int64_t>{9, 1});
  made.text = workload::to_text(made);
  return workload::instantiate(made, {});
}

std::string refusal_of(const std::string& statements, std::vector<int64_t> shape = {4, 6}) {
  try {
    made_of(statements, std::move(shape));
  } catch (const UserError& error) {
    return error.what();
  }
  return "accepted";
}

TEST(Statements, ArePrintedAsTheyMean) {
  for (const std::string value : {"x[a, b] + x[a, b] * x[a, b]",
                                  "(x[a, b] + x[a, b]) * x[a, b]",
                                  "x[a, b] - (x[a, b] - x[a, b])",
                                  "x[a, b] - x[a, b] - x[a, b]",
                                  "-x[a, b] * 2",
                                  "-(x[a, b] * 2)",
                                  "--x[a, b]",
                                  "2 / (x[a, b] / x[a, b])",
                                  "select(not (a < 2 and b < 3) or a == b, x[a, b], 0.5e-3)",
                                  "select((a < 2 or b < 3) and a + 1 < b, x[a, b], -inf)",
                                  "select(not a < 2, x[a, b], f32(1))",
                                  "sum(r<6) x[a, r]",
                                  "sum(r<6) (x[a, r] * x[a, b])",
                                  "x[a, b] - (max(r<6) x[a, r])",
                                  "exp(sum(r<3 * 2) (x[a, r]))",
                                  "prod(r<4, s<6) (-x[r, s])",
                                  "inside(x[a - 1, (a + b) // 2 % 3], 0)",
                                  "x[at(i[a] + 1), 5 - b]",
                                  "max(x[a, b], 1, 2.0)",
                                  "sum(r<6) (max(s<4) x[s, r])",
                                  "f32(argmax(r<6) x[a, r])"}) {
    const Workload made = made_of("y[a<4, b<6] = " + value);
    const Workload read = workload_of(made.definition);
    EXPECT_EQ(read.hash, made.hash) << made.definition;
    EXPECT_EQ(read.key, made.key);
    EXPECT_EQ(read.program.inputs.front()->strides, made.program.inputs.front()->strides);
    EXPECT_EQ(made_of("y[a<4, b<6] = (" + value + ")").hash, made.hash);
  }
  EXPECT_THAT(made_of("y[a<4, b<6] = ((x[a, b]) + (2 * (x[a, b])))").definition,
              HasSubstr("  y[a<4, b<6] = x[a, b] + 2 * x[a, b]\n"));
}

TEST(Statements, AreRefusedAtTheirPlaces) {
  EXPECT_THAT(refusal_of("t[a<4, b<6] = x[a, b]\ny[a<4, b<6] = t[a, b + 1]"), HasSubstr("a node:2:20: "));
  EXPECT_THAT(refusal_of("y[a<4, b<6] = x[a, b] +"), HasSubstr("a node:2:1: expected a value"));
}

TEST(Statements, HaveTheLimitsOfTheLanguage) {
  EXPECT_THAT(refusal_of("y[a<1, b<1, c<1, d<1, e<1, f<1, g<1, h<1, k<1] = x[a, b]"),
              HasSubstr("'y' has more than 8 dimensions"));
  EXPECT_THAT(refusal_of("y[a<1] = x[a]", std::vector<int64_t>(9, 1)), HasSubstr("'x' has 9 dimensions"));
  std::string many = "y[a<4, b<6] = x[a, b]";
  for (int i = 0; i < 256; ++i) many += "\nt" + std::to_string(i) + "[a<4] = x[a, 0]";
  EXPECT_THAT(refusal_of(many), HasSubstr("more than 256 statements"));
}

}  // namespace
}  // namespace tunesmith
