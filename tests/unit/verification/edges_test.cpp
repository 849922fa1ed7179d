#include "tunesmith/verification/edges.h"

#include <algorithm>
#include <cmath>
#include <functional>
#include <limits>
#include <set>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "data/trial.h"
#include "tunesmith/verification/choose_data.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/verification/reference.h"
#include "tunesmith/workload/library.h"
#include "unit/verification/random_set.h"

namespace tunesmith {
namespace {

Program loaded(const std::string& text) { return std::move(WorkloadLibrary().load(text).program); }

Program elementwise(const std::string& compute, const std::string& dtype) {
  return std::move(WorkloadDefinition::parse("name: t\nparams: {n: 64}\ninputs: {X: {shape: [n], dtype: " +
                                                 dtype + "}}\ncompute: |\n  " + compute + "\noutputs: [O]\n",
                                             "t.yaml")
                       .instantiate()
                       .program);
}

TEST(EdgeTraits, AnAxisIsCarriedWhenNoStageMixesItsSlices) {
  using Axes = std::vector<std::vector<bool>>;
  const auto carried = [](const char* text) { return edge_traits(loaded(text)).carried; };
  EXPECT_EQ(carried("gmm:n=4,m=5,k=6"), (Axes{{true, true, false}, {true, false, true}}));
  EXPECT_EQ(carried("softmax:m=4,n=5"), (Axes{{true, false}}));
  EXPECT_EQ(carried("relu:n=4,m=5"), (Axes{{true, true}}));
  EXPECT_EQ(carried("layer_norm:m=4,n=5"), (Axes{{true, false}, {true}, {true}}));
  EXPECT_EQ(carried("reduce_sum_1d:n=8"), (Axes{{false}}));
  const Axes conv = carried("conv2d:h=5,w=5,ci=3,co=4");
  EXPECT_EQ(conv[0], (std::vector<bool>{true, false, false, false}));
  EXPECT_EQ(std::ranges::count(conv[1], true), 1) << "the channels that come out";
}

TEST(EdgeTraits, SaysWhatHasOneRightResult) {
  const EdgeTraits relu = edge_traits(loaded("relu:n=4,m=5"));
  EXPECT_FALSE(relu.rounds);
  EXPECT_FALSE(relu.reduces);
  EXPECT_TRUE(relu.keeps_denormals);
  EXPECT_FALSE(edge_traits(loaded("relu:n=4,m=5,dtype=bf16")).keeps_denormals);
  EXPECT_FALSE(edge_traits(loaded("softmax:m=4,n=5")).keeps_denormals) << "it divides";
  EXPECT_TRUE(edge_traits(loaded("max_pool2d:h=9,w=9,c=6")).reduces);
  EXPECT_EQ(edge_traits(loaded("gmm:n=4,m=5,k=6")).exponents, (std::vector<int64_t>{63, 63}));
  EXPECT_EQ(edge_traits(loaded("gmm:n=4,m=5,k=6,dtype=f16")).exponents, (std::vector<int64_t>{15, 15}))
      << "the products are of f32";
  EXPECT_EQ(edge_traits(loaded("conv2d:h=5,w=5,ci=3,co=4,dtype=f16")).exponents,
            (std::vector<int64_t>{15, 15}))
      << "as the padding is f16, the products are not";
  EXPECT_EQ(edge_traits(loaded("layer_norm:m=4,n=5")).exponents.back(), 127) << "it is only added";
}

TEST(EdgeTraits, SaysWhichInputsAreIndices) {
  const Program program =
      std::move(WorkloadDefinition::parse("name: t\nparams: {n: 16}\ninputs:\n  W: {shape: [40, 3], dtype: "
                                          "f32}\n  I: {shape: [n], dtype: i64}\n"
                                          "  A: {shape: [n], dtype: i32}\n  B: {shape: [n], dtype: i32}\n"
                                          "compute: |\n  J[i<n] = select(A[i] < 0, A[i] + 40, A[i])\n"
                                          "  O[i<n] = W[at(J[i]), at(I[i])] * f32(B[i])\noutputs: [O]\n",
                                          "t.yaml")
                    .instantiate()
                    .program);
  EXPECT_EQ(edge_traits(program).extents, (std::vector<int64_t>{0, 3, 40, 0}));
  const std::vector<DrawnData> draws = random_set(program);
  ASSERT_FALSE(draws.empty());
  int64_t inside = 0, from_end = 0, outside = 0;
  Tensor many = Tensor::zeros(kI32, {4000});
  draw_indices(many, 40, 1);
  for (int64_t i = 0; i < many.elements(); ++i) {
    const double value = many.get(i);
    ++(value >= 0 && value < 40 ? inside : value < 0 && value >= -40 ? from_end : outside);
  }
  EXPECT_GT(inside, 2800);
  EXPECT_GT(from_end, 300);
  EXPECT_GT(outside, 300);
  for (const DrawnData& draw : draws) {
    for (int64_t i = 0; i < 16; ++i) {
      EXPECT_GE(draw.inputs[2].get(i), -42);
      EXPECT_LT(draw.inputs[2].get(i), 42);
    }
  }
}

/// Of a product's rows a few are scaled; all others are those of the plain data.
TEST(AddEdges, ScalesWholeSlicesAndLeavesTheOthers) {
  Tensor plain = Tensor::zeros(kF32, {64, 32});
  plain.fill_random(1);
  Tensor data = plain;
  add_edges(data, {.share = 0.9}, EdgePart::Slices, {0, {true, false}, 63}, 7);
  int scaled = 0;
  double largest = 0.0;
  for (int64_t row = 0; row < 64; ++row) {
    const double scale = data.get(row * 32) / plain.get(row * 32);
    int exponent = 0;
    EXPECT_EQ(std::frexp(scale, &exponent), 0.5) << "a power of two";
    for (int64_t i = row * 32; i < (row + 1) * 32; ++i) EXPECT_EQ(data.get(i), scale * plain.get(i));
    scaled += scale == 1.0 ? 0 : 1;
    largest = std::max(largest, scale);
  }
  EXPECT_GE(scaled, 1);
  EXPECT_LE(scaled, 16);
  EXPECT_EQ(largest, 0x1p57) << "one of them goes as far as it may";
  Tensor few = Tensor::zeros(kF32, {8, 32});
  few.fill_random(1);
  const Tensor before = few;
  add_edges(few, {.share = 0.9}, EdgePart::Slices, {0, {true, false}, 63}, 7);
  EXPECT_EQ(few, before) << "one of eight rows would be too many";
}

TEST(AddEdges, AnyValueIncludesTheEndsOfTheType) {
  for (const DType type : {kF16, kBF16, kF32, kF64}) {
    Tensor data = Tensor::zeros(type, {4096});
    add_edges(data, {.any_value = true, .denormals = true, .nans = true}, EdgePart::Large, {0, {true}, 1}, 3);
    std::set<std::string> seen;
    const FloatRange range = float_range(type);
    for (int64_t i = 0; i < data.elements(); ++i) {
      const double value = data.get(i);
      if (std::isnan(value)) seen.insert("nan");
      if (std::isinf(value)) seen.insert(value > 0 ? "inf" : "-inf");
      if (value == 0.0) seen.insert(std::signbit(value) ? "-0" : "0");
      if (std::abs(value) == range.largest) seen.insert("largest");
      if (std::abs(value) == range.smallest) seen.insert("smallest");
    }
    EXPECT_EQ(seen.size(), 7U) << type.str();
  }
}

TEST(WideIntegers, ReachTheEndsOfTheirTypes) {
  for (const DType type : {kI8, kU8, kI32, kI64}) {
    Tensor data = Tensor::zeros(type, {4096});
    draw_wide_integers(data, {.integer_bits = 64}, 1, 5);
    int64_t least = 0;
    int64_t most = 0;
    int large = 0;
    for (int64_t i = 0; i < data.elements(); ++i) {
      const int64_t value = data.get_int(i);
      least = std::min(least, value);
      most = std::max(most, value);
      large += std::abs(static_cast<double>(value)) >= std::ldexp(1.0, type.bits / 2) ? 1 : 0;
    }
    const int bits = type.code == TypeCode::Int ? type.bits - 1 : type.bits;
    EXPECT_EQ(static_cast<double>(most), bits == 63 ? std::ldexp(1.0, 63) : std::ldexp(1.0, bits) - 1);
    EXPECT_EQ(static_cast<double>(least), type.code == TypeCode::Int ? -std::ldexp(1.0, bits) : 0.0);
    EXPECT_GT(large, 2048) << type.str();
  }
  // The maximum of thousands is not always the type's maximum.
  Tensor data = Tensor::zeros(kI32, {4096});
  draw_wide_integers(data, {.integer_bits = 64}, 4096, 5);
  int ends = 0;
  for (int64_t i = 0; i < data.elements(); ++i)
    ends += data.get_int(i) == std::numeric_limits<int32_t>::max() ? 1 : 0;
  EXPECT_LE(ends, 2);
}

class EdgesOf : public testing::TestWithParam<const char*> {};

TEST_P(EdgesOf, ARightProgramIsWithinItsBounds) {
  for (const std::string type : {"f32", "f16", "bf16", "f64"}) {
    const Program program = loaded(std::string(GetParam()) + ",dtype=" + type);
    std::vector<DrawnData> draws = random_set(program);
    EXPECT_LE(worst_of(program, draws), 1.0) << type << ": " << draws.front().fill.text();
    EXPECT_TRUE(draws.front().fill.edges.in_floats()) << type << ": " << draws.front().fill.text();
  }
}

INSTANTIATE_TEST_SUITE_P(Small, EdgesOf,
                         testing::Values("gmm:n=7,m=5,k=33", "gmm:n=64,m=64,k=64", "relu:n=9,m=8",
                                         "conv2d:h=6,w=5,ci=3,co=4", "conv_bias_bn_relu:h=5,w=5,ci=3,co=4",
                                         "dense_bias_gelu:n=6,m=5,k=7", "elementwise_chain:n=5,m=7",
                                         "max_pool2d:h=9,w=9,c=6", "softmax:m=4,n=200", "layer_norm:m=4,n=19",
                                         "norm:m=6,n=8", "reduce_sum_1d:n=100"));

TEST(Edges, TheTimedDrawHasNoDenormalsOfASum) {
  const std::vector<DrawnData> draws = random_set(loaded("gmm:n=7,m=5,k=33"));
  const auto denormals = [](const DrawnData& draw) {
    int found = 0;
    for (int64_t i = 0; i < draw.inputs[0].elements(); ++i) {
      const double value = std::abs(draw.inputs[0].get(i));
      found += value > 0.0 && value < std::numeric_limits<float>::min() ? 1 : 0;
    }
    return found;
  };
  ASSERT_EQ(draws.size(), 4U) << "of large, of tiny and of small numbers, and a plain one";
  EXPECT_GT(denormals(draws[1]), 0);
  EXPECT_EQ(denormals(draws[3]), 0);
}

/// `wrong` differs from `right`, but no draw of integers up to 1000 or floats up to 3 shows it.
void expect_refused(const std::string& right, const std::string& wrong, const std::string& dtype) {
  std::vector<DrawnData> draws = random_set(elementwise(right, dtype));
  EXPECT_LE(worst_of(elementwise(right, dtype), draws), 1.0) << right;
  EXPECT_GT(worst_of(elementwise(wrong, dtype), draws), 1.0) << wrong << " of " << dtype;
}

TEST(Edges, ShowMistakesThatSmallNumbersDoNot) {
  for (const char* dtype : {"f32", "f16", "bf16", "f64", "i32", "i64"})
    expect_refused("O[i<n] = max(X[i], 0)", "O[i<n] = min(max(X[i], 0), 6)", dtype);
  expect_refused("O[i<n] = X[i] * X[i]", "O[i<n] = (X[i] % 65536) * X[i]", "i32");
  expect_refused("O[i<n] = X[i] * 3", "O[i<n] = min(max(X[i], -1000000), 1000000) * 3", "i64");
  expect_refused("O[i<n] = i8(X[i])", "O[i<n] = i8(i32(X[i]))", "f32");
  expect_refused("O[i<n] = max(X[i], 0)", "O[i<n] = max(0.0, X[i])", "f32");
  expect_refused("O[i<n] = abs(X[i])", "O[i<n] = abs(X[i]) * 1.0 + 0.0 * X[i]", "f32");
}

// A sum of f16 divided by nine was taken for one that cannot overflow.
TEST(Edges, NoRightProgramOverflows) {
  for (const char* text : {"avg_pool2d:h=9,w=9,c=6,dtype=f16", "norm:b=3,m=20,n=30,dtype=f16"}) {
    const Program program = loaded(text);
    const Program reference = reference_program(program, DataKind::Random);
    for (const DrawnData& draw : random_set(program)) {
      const Trial trial = try_inputs(question_of(program, DataKind::Random), draw.inputs,
                                     [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
      for (int64_t i = 0; i < trial.bounds[0].elements(); ++i)
        EXPECT_LT(trial.bounds[0].get(i), 1e5) << text << ": " << draw.fill.text();
    }
  }
}

TEST(Edges, NoRightProgramOverflowsOnItsWay) {
  const Program program =
      elementwise("O[i<n//4] = min(r<4) (f32(relu(f16(X[4*i + r]) + f16(X[4*i + 3 - r]))))", "f32");
  std::vector<DrawnData> draws = random_set(program);
  EXPECT_LE(worst_of(program, draws), 1.0);
}

TEST(Edges, ASumOfF64MayRoundHoweverSmallItIs) {
  const Program program = elementwise("O[i<n//4] = sum(r<4) (exp(X[4*i + r] - 400))", "f64");
  const Program reference = reference_program(program, DataKind::Random);
  const DataQuestion question = question_of(program, DataKind::Random);
  Tensor input = Tensor::like(*program.inputs.front());
  for (int64_t i = 0; i < input.elements(); ++i) input.set(i, -0.25 * static_cast<double>(i));
  const Trial trial =
      try_inputs(question, {input}, [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
  for (int64_t i = 0; i < trial.values[0].elements(); ++i)
    EXPECT_GE(trial.bound(question, 0)->get(i), 0x1p-53 * trial.values[0].get(i));
}

TEST(Edges, ASigmoidOfF64MayBeZeroBelowTheNormalNumbers) {
  const Program program = elementwise("O[i<n] = sigmoid(X[i])", "f64");
  const Program reference = reference_program(program, DataKind::Random);
  const DataQuestion question = question_of(program, DataKind::Random);
  Tensor input = Tensor::like(*program.inputs.front());
  for (int64_t i = 0; i < input.elements(); ++i) input.set(i, -700.0 - static_cast<double>(i));
  const Trial trial =
      try_inputs(question, {input}, [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
  for (int64_t i = 0; i < input.elements(); ++i)
    EXPECT_LE(std::abs(trial.values[0].get(i) - std::exp(input.get(i))), trial.bound(question, 0)->get(i));
}

TEST(Edges, SmallExponentialsAndSigmoidsOfF32MayBeZero) {
  struct Function {
    const char* text;
    double kept, may_be_zero;  // arguments
  };
  for (const Function& function :
       {Function{"O[i<n] = exp(X[i])", -86.0, -86.7}, Function{"O[i<n] = sigmoid(X[i])", -88.2, -88.4}}) {
    const Program program = elementwise(function.text, "f32");
    const Program reference = reference_program(program, DataKind::Random);
    const DataQuestion question = question_of(program, DataKind::Random);
    Tensor input = Tensor::like(*program.inputs.front());
    for (int64_t i = 0; i < input.elements(); ++i)
      input.set(i, i == 0 ? function.kept : function.may_be_zero);
    const Trial trial =
        try_inputs(question, {input}, [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
    const Tensor& bound = *trial.bound(question, 0);
    EXPECT_LT(bound.get(0), trial.values[0].get(0)) << function.text;
    EXPECT_GE(bound.get(1), trial.values[0].get(1)) << function.text;
  }
}

TEST(Edges, AValueOfF64MayOverflowOnItsWay) {
  const Program program = elementwise("S[i<n] = f32(X[i])\n  O[i<n] = f64(S[i])", "f64");
  std::vector<DrawnData> draws = random_set(program);
  EXPECT_LE(worst_of(program, draws), 1.0) << draws.front().fill.text();
}

TEST(EdgeTraits, AFunctionThatIsBoundedIsNoFactor) {
  EXPECT_EQ(edge_traits(loaded("elementwise_chain:n=4,m=5,dtype=f16")).exponents,
            (std::vector<int64_t>{15, 15, 15}))
      << "Z is multiplied by a tanh";
  EXPECT_EQ(edge_traits(loaded("dense_bias_gelu:n=4,m=5,k=6")).exponents[0], 63);
}

TEST(Edges, WhatIsLeftOutIsSaid) {
  const auto left = [](const char* text) {
    const Program program = loaded(text);
    const auto draws = random_set(program);
    return not_exercised(program, edge_traits(program), draws.front().fill.edges);
  };
  EXPECT_TRUE(left("relu:n=9,m=8").empty());
  EXPECT_TRUE(left("gmm:n=4,m=4,k=4,dtype=i32,acc=i32").empty());
  ASSERT_EQ(left("gmm:n=4,m=4,k=4").size(), 1U);
  EXPECT_TRUE(left("gmm:n=4,m=4,k=4").front().starts_with("infinities and NaN: "));
  EXPECT_TRUE(left("gmm:n=4,m=4,k=4,dtype=bf16").back().starts_with("denormals: a target may"));
}

/// The bound of O, a workload of one input, at `x`.
double bound_at(const std::string& compute, const std::string& dtype, double x) {
  const Program program = elementwise(compute, dtype);
  const Program reference = reference_program(program, DataKind::Random);
  std::vector<Tensor> tensors{Tensor::zeros(kF64, {64}), Tensor::zeros(reference.outputs[0]->dtype, {64}),
                              Tensor::zeros(kF64, {64})};
  for (int64_t i = 0; i < 64; ++i) tensors[0].set(i, x);
  interpret(reference, tensors);
  return tensors[2].get(0);
}

TEST(ErrorBounds, FollowWhatIsChosenAndWhereAValueEnds) {
  EXPECT_EQ(bound_at("O[i<n] = max(X[i] * 1.1, 0)", "f32", -0x1p40), 0.0) << "zero, however it was rounded";
  EXPECT_GT(bound_at("O[i<n] = max(X[i] * 1.1, 0)", "f32", 0x1p40), 0x1p15);
  EXPECT_EQ(bound_at("O[i<n] = min(X[i] * 1.1, 6)", "f32", 0x1p40), 0.0);
  EXPECT_EQ(bound_at("O[i<n] = i8(X[i] * 1.1)", "f32", 0x1p40), 0.0) << "the largest i8";
  EXPECT_EQ(bound_at("O[i<n] = i32(X[i] * 1.1)", "f32", 0.5), 0.0);
  EXPECT_EQ(bound_at("O[i<n] = i32(X[i] * 1.1)", "f32", 10.0 / 1.1), 1.0) << "10 or 11";
  EXPECT_LT(bound_at("O[i<n] = tanh(X[i] * 1.1)", "f32", 0x1p60), 1e-6);
  EXPECT_GT(bound_at("O[i<n] = X[i] * 1.1", "f64", 0x1p700), 0x1p647) << "f64 has no bound of its size";
  EXPECT_GE(bound_at("O[i<n] = X[i] * 1.1", "f32", 0x1p-149), 0x1p-150) << "half a step";
  EXPECT_GE(bound_at("O[i<n] = X[i] + 1.1", "bf16", 0.0), 0x1p-126);
  EXPECT_EQ(bound_at("O[i<n] = X[at(i64(X[i] * 1.1))]", "f32", 0.5), 0.0);
  EXPECT_GT(bound_at("O[i<n] = X[at(i64(X[i] * 1.1))]", "f32", 10.0 / 1.1), 1e100)
      << "which element is not sure";
  EXPECT_EQ(bound_at("O[i<n] = bit_and(i32(X[i] * 1.1), 7)", "f32", 0.5), 0.0);
  EXPECT_GT(bound_at("O[i<n] = bit_and(i32(X[i] * 1.1), 7)", "f32", 10.0 / 1.1), 1e100)
      << "8 is far from 7 to bits";
  EXPECT_LT(bound_at("O[i<n] = sin(X[i] * 1.1)", "f32", 10.0), 1e-5);
  EXPECT_LE(bound_at("O[i<n] = cos(X[i] * 1.1)", "f32", 0x1p60), 2.1) << "whatever the angle is";
  EXPECT_GT(bound_at("O[i<n] = sin(X[i] * 1.1)", "f32", 0x1p60), 1.9);
}

}  // namespace
}  // namespace tunesmith
