// Operators of the operator sets 26 to 28, and inverse functions.
#include <cmath>

#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

const Attributes kReversed{{"reverse", int64_t{1}}};

TEST(OnnxNewer, RunningProducts) {
  const Given x = given({4}, {1, 2, 3, 4});
  expect_tensor(run({"CumProd", 26, {x, known({}, {0})}}), {4}, {1, 2, 6, 24});
  expect_tensor(run({"CumProd", 26, {x, known({}, {0})}, {{"exclusive", int64_t{1}}}}), {4}, {1, 1, 2, 6});
  expect_tensor(run({"CumProd", 26, {x, known({}, {-1})}, kReversed}), {4}, {24, 24, 12, 4});
}

TEST(OnnxNewer, AGateIsASwish) {
  const Given gate = given({2}, {1, -2}), gated = given({2}, {3, 5});
  const auto swish = [](double x, double alpha) { return x / (1 + std::exp(-alpha * x)); };
  expect_tensor(run({"SwiGLU", 28, {gate, gated}, {{"alpha", 2.0}}}), {2},
                {3 * swish(1, 2), 5 * swish(-2, 2)});
  EXPECT_THAT(refusal_of({"SwiGLU", 28, {gate, given({1}, {3})}}),
              testing::HasSubstr("of one type and shape"));
}

TEST(OnnxNewer, SignedNumbersAreShifted) {
  const Given x = given({3}, {-8, 5, 64}, kI8), by = given({3}, {1, 9, 1}, kI8);
  expect_tensor(run({"BitShift", 28, {x, by}, {{"direction", "RIGHT"}}}), {3}, {-4, 0, 32});
  expect_tensor(run({"BitShift", 28, {x, by}, {{"direction", "LEFT"}}}), {3}, {-16, 0, -128});
}

TEST(OnnxNewer, IntegersOfAWidthHaveTheSameBits) {
  const auto cast = [](const Given& x, int64_t to) { return Use{"BitCast", 26, {x}, {{"to", to}}}; };
  expect_tensor(run(cast(given({3}, {-1, 5, -128}, kI8), 2)), {3}, {255, 5, 128});
  expect_tensor(run(cast(given({2}, {4294967295, 7}, kU32), 6)), {2}, {-1, 7});
  EXPECT_THAT(refusal_of(cast(given({1}, {1}), 6)), testing::HasSubstr("bits of floating values"));
  EXPECT_THAT(refusal_of(cast(given({1}, {1}, kI8), 6)), testing::HasSubstr("different widths"));
}

TEST(OnnxNewer, ColumnsOfABlockAreFirst) {
  const Attributes columns{{"blocksize", int64_t{2}}, {"mode", "CRD"}};
  // Channel 0 has 0 to 3, channel 1 has 4 to 7.
  expect_tensor(run({"SpaceToDepth", 28, {counted({1, 2, 2, 2})}, columns}), {1, 8, 1, 1},
                {0, 1, 2, 3, 4, 5, 6, 7});
  EXPECT_THAT(refusal_of({"SpaceToDepth", 13, {counted({1, 2, 2, 2})}, columns}),
              testing::HasSubstr("'mode' is not known in version 13"));
}

TEST(OnnxNewer, AConvolutionKeepsWhatWasBefore) {
  const Given x = given({1, 1, 3}, {1, 2, 3}), w = given({1, 1, 3}, {1, 10, 100}), bias = given({1}, {0.5}),
              state = given({1, 1, 2}, {7, 9});
  const auto with_state = run_all({"CausalConvWithState", 27, {x, w, bias, state}, {}, 2});
  expect_tensor(with_state[0], {1, 1, 3}, {197.5, 219.5, 321.5});
  expect_tensor(with_state[1], {1, 1, 2}, {2, 3});
  expect_tensor(run({"CausalConvWithState", 27, {x, w}}), {1, 1, 3}, {100, 210, 321});
  const double last = 321.0 / (1 + std::exp(-321.0));
  EXPECT_NEAR(run({"CausalConvWithState", 27, {x, w}, {{"activation", "silu"}}}).get(2), last, 1e-9);
}

TEST(OnnxNewer, InverseFunctions) {
  std::vector<double> any, part;
  for (int i = -400; i <= 400; ++i) {
    any.push_back(i * 0.05);
    part.push_back(i / 400.0);
  }
  any.insert(any.end(), {1e30, -1e30, INFINITY, -INFINITY, 1e-30, kNan});
  const auto mapped = [](std::vector<double> values, double (*function)(double)) {
    for (double& value : values) value = function(value);
    return values;
  };
  const auto shape_of = [](const std::vector<double>& values) {
    return Ints{static_cast<int64_t>(values.size())};
  };
  const auto of = [&](const std::vector<double>& values) { return given(shape_of(values), values, kF64); };
  expect_tensor(run({"Atan", 7, {of(any)}}), shape_of(any), mapped(any, std::atan), 1e-15);
  expect_tensor(run({"Asin", 7, {of(part)}}), shape_of(part), mapped(part, std::asin), 1e-15);
  expect_tensor(run({"Acos", 7, {of(part)}}), shape_of(part), mapped(part, std::acos), 1e-15);
  EXPECT_TRUE(std::isnan(run({"Asin", 7, {given({1}, {1.5})}}).get(0)));
}

/// 1 + exp(-9) is 1 in bf16, and exp(-0.01) - 1 has three digits in f16.
TEST(OnnxNarrow, FunctionsOfSeveralStepsRoundOnce) {
  const std::vector<double> xs{-9, -3.5, -0.75, -0.013671875, 0.013671875, 0.75, 3.5, 9};
  for (const DType dtype : {kF16, kBF16}) {
    for (const char* const op :
         {"Elu", "Selu", "Celu", "Gelu", "Softplus", "Softsign", "Mish", "Sinh", "Cosh"}) {
      network::Network network = network_of({op, 20, {given({8}, xs, dtype)}});
      network::run_passes(network, {find_operator, {}});
      const std::vector<Tensor> inputs{tensor_of(dtype, {8}, xs)};
      const Tensor found = network::evaluate(network, inputs, network::Precision::AsTyped)[0];
      const std::vector<double> exact = values_of(run({op, 20, {given({8}, xs, kF64)}}));
      for (int64_t i = 0; i < 8; ++i)
        EXPECT_NEAR(found.get(i), exact[static_cast<size_t>(i)],
                    1.1 * unit_roundoff(dtype) * std::abs(exact[static_cast<size_t>(i)]) + 1e-6)
            << op << " of " << xs[static_cast<size_t>(i)] << " in " << dtype.str();
    }
  }
}

TEST(OnnxNarrow, ASumOfSeveralRoundsOnce) {
  const Given one = given({1}, {1}, kF16), half_unit = given({1}, {0x1p-11}, kF16);
  network::Network network = network_of({"Sum", 13, {one, half_unit, half_unit}});
  network::run_passes(network, {find_operator, {}});
  const std::vector<Tensor> inputs{one.value, half_unit.value, half_unit.value};
  EXPECT_EQ(network::evaluate(network, inputs, network::Precision::AsTyped)[0].get(0), 1 + 0x1p-10);
}

TEST(OnnxNewer, BlocksOfAnAxisHaveScalesOfTheirOwn) {
  const Attributes blocks{{"block_size", int64_t{2}}, {"axis", int64_t{1}}};
  const Given scale = given({1, 2}, {0.5, 2}), zero = given({1, 2}, {1000, -1000}, kI16);
  const Tensor stored = run({"QuantizeLinear", 21, {given({1, 3}, {1, -2, 7}), scale, zero}, blocks});
  expect_tensor(stored, {1, 3}, {1002, 996, -996});
  expect_tensor(run({"DequantizeLinear", 21, {Given{stored}, scale, zero}, blocks}), {1, 3}, {1, -2, 8});
  Attributes typed = blocks;
  typed["output_dtype"] = int64_t{4};
  EXPECT_EQ(run({"QuantizeLinear", 21, {given({1, 3}, {1, 2, 7e5}), scale}, typed}).get_int(2), 65535);
  EXPECT_THAT(refusal_of({"DequantizeLinear", 21, {Given{stored}, given({1, 3}, {1, 1, 1})}, blocks}),
              testing::HasSubstr("one value for each block"));
}

}  // namespace
}  // namespace tunesmith::operators_onnx
