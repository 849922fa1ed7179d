#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

constexpr double kInf = std::numeric_limits<double>::infinity();

struct UnaryCase {
  const char* op;
  int64_t version;
  Attributes attributes;
  double (*value)(double);
};

double softplus(double x) { return std::log(std::exp(x) + 1); }

TEST(OnnxElementwise, UnaryOperatorsComputeWhatTheyAreNamedAfter) {
  const std::vector<double> xs{-3.0, -1.25, -0.5, 0.0, 0.25, 0.5, 1.0, 2.5};
  const std::vector<UnaryCase> cases{
      {"Abs", 13, {}, [](double x) { return std::abs(x); }},
      {"Neg", 13, {}, [](double x) { return -x; }},
      {"Sign", 13, {}, [](double x) { return x > 0   ? 1.0
                                             : x < 0 ? -1.0
                                                     : 0.0; }},
      {"Ceil", 13, {}, [](double x) { return std::ceil(x); }},
      {"Floor", 13, {}, [](double x) { return std::floor(x); }},
      {"Round", 11, {}, [](double x) { return std::nearbyint(x); }},
      {"Exp", 13, {}, [](double x) { return std::exp(x); }},
      {"Reciprocal", 13, {}, [](double x) { return 1 / x; }},
      {"Erf", 13, {}, [](double x) { return std::erf(x); }},
      {"Sigmoid", 13, {}, [](double x) { return 1 / (1 + std::exp(-x)); }},
      {"Tanh", 13, {}, [](double x) { return std::tanh(x); }},
      {"Sinh", 9, {}, [](double x) { return std::sinh(x); }},
      {"Cosh", 9, {}, [](double x) { return std::cosh(x); }},
      {"Asinh", 9, {}, [](double x) { return std::asinh(x); }},
      {"Softsign", 1, {}, [](double x) { return x / (1 + std::abs(x)); }},
      {"Softplus", 1, {}, softplus},
      {"Mish", 18, {}, [](double x) { return x * std::tanh(softplus(x)); }},
      {"HardSwish", 14, {}, [](double x) { return x * std::max(0.0, std::min(1.0, x / 6 + 0.5)); }},
      {"Relu", 14, {}, [](double x) { return std::max(x, 0.0); }},
      {"Elu", 6, {{"alpha", 2.0}}, [](double x) { return x < 0 ? 2 * (std::exp(x) - 1) : x; }},
      {"Celu", 12, {{"alpha", 2.0}}, [](double x) { return x < 0 ? 2 * (std::exp(x / 2) - 1) : x; }},
      {"Selu",
       6,
       {{"alpha", 2.0}, {"gamma", 3.0}},
       [](double x) { return x > 0 ? 3 * x : 3 * (2 * std::exp(x) - 2); }},
      {"LeakyRelu", 16, {{"alpha", 0.5}}, [](double x) { return x < 0 ? x / 2 : x; }},
      {"ThresholdedRelu", 10, {{"alpha", 0.5}}, [](double x) { return x > 0.5 ? x : 0; }},
      {"HardSigmoid",
       6,
       {{"alpha", 0.5}, {"beta", 0.25}},
       [](double x) { return std::max(0.0, std::min(1.0, x / 2 + 0.25)); }},
      {"Gelu", 20, {}, [](double x) { return x * 0.5 * (1 + std::erf(x / std::sqrt(2.0))); }},
      {"Gelu",
       20,
       {{"approximate", "tanh"}},
       [](double x) { return 0.5 * x * (1 + std::tanh(std::sqrt(2 / M_PI) * (x + 0.044715 * x * x * x))); }},
      {"Swish", 24, {{"alpha", 2.0}}, [](double x) { return x / (1 + std::exp(-2 * x)); }},
      {"Shrink",
       9,
       {{"lambd", 0.75}, {"bias", 0.5}},
       [](double x) { return x < -0.75  ? x + 0.5
                             : x > 0.75 ? x - 0.5
                                        : 0; }},
      {"Identity", 16, {}, [](double x) { return x; }},
  };
  for (const UnaryCase& each : cases) {
    SCOPED_TRACE(each.op);
    std::vector<double> expected;
    for (const double x : xs) expected.push_back(each.value(x));
    expect_tensor(run({each.op, each.version, {given({2, 4}, xs)}, each.attributes}), {2, 4}, expected);
    expect_tensor(run({each.op, each.version, {given({}, {xs[1]})}, each.attributes}), {}, {expected[1]});
    EXPECT_NO_THROW(run({each.op, each.version, {given({2, 4}, xs, kF16)}, each.attributes}));
  }
}

TEST(OnnxElementwise, FunctionsOfAngles) {
  const std::vector<double> xs{-2, 0, 0.5, 100};
  expect_tensor(run({"Sin", 7, {given({4}, xs)}}), {4}, {std::sin(-2.0), 0, std::sin(0.5), std::sin(100.0)});
  expect_tensor(run({"Cos", 7, {given({4}, xs)}}), {4}, {std::cos(-2.0), 1, std::cos(0.5), std::cos(100.0)});
  expect_tensor(run({"Tan", 7, {given({4}, xs)}}), {4}, {std::tan(-2.0), 0, std::tan(0.5), std::tan(100.0)});
}

TEST(OnnxElementwise, BitsOfIntegers) {
  const Given a = given({2, 1}, {12, 10}, kU8), b = given({2}, {10, 3}, kU8);
  expect_tensor(run({"BitwiseAnd", 18, {a, b}}), {2, 2}, {8, 0, 10, 2});
  expect_tensor(run({"BitwiseOr", 18, {a, b}}), {2, 2}, {14, 15, 10, 11});
  expect_tensor(run({"BitwiseXor", 18, {a, b}}), {2, 2}, {6, 15, 0, 9});
  expect_tensor(run({"BitwiseNot", 18, {given({2}, {0, 12}, kU16)}}), {2}, {65535, 65523});
  expect_tensor(run({"BitwiseNot", 18, {given({2}, {0, 12}, kI32)}}), {2}, {-1, -13});
  for (const DType type : {kU8, kU16, kU32, kU64}) {
    const Given x = given({3}, {16, 4, 1}, type), by = given({3}, {1, 2, 3}, type);
    expect_tensor(run({"BitShift", 11, {x, by}, {{"direction", "RIGHT"}}}), {3}, {8, 1, 0});
    expect_tensor(run({"BitShift", 11, {x, by}, {{"direction", "LEFT"}}}), {3}, {32, 16, 8});
  }
  EXPECT_THAT(refusal_of({"BitShift", 11, {a, b}}), testing::HasSubstr("not LEFT or RIGHT"));
  EXPECT_THAT(
      refusal_of({"BitShift", 11, {given({1}, {1}, kI32), given({1}, {1}, kI32)}, {{"direction", "LEFT"}}}),
      testing::HasSubstr("unsigned integers"));
  EXPECT_THAT(refusal_of({"BitwiseAnd", 18, {given({1}, {1}), given({1}, {1})}}),
              testing::HasSubstr("integers"));
}

TEST(OnnxElementwise, FunctionsOfPositiveValues) {
  expect_tensor(run({"Log", 13, {given({2}, {0.5, 4})}}), {2}, {std::log(0.5), std::log(4.0)});
  expect_tensor(run({"Sqrt", 13, {given({2}, {0.5, 4})}}), {2}, {std::sqrt(0.5), 2});
  expect_tensor(run({"Acosh", 9, {given({2}, {1.5, 4})}}), {2}, {std::acosh(1.5), std::acosh(4.0)});
  expect_tensor(run({"Acosh", 9, {given({3}, {0.5, -2, -1e10})}}), {3}, {kNan, kNan, kNan});
  expect_tensor(run({"Atanh", 9, {given({2}, {-0.5, 0.25})}}), {2}, {std::atanh(-0.5), std::atanh(0.25)});
}

TEST(OnnxElementwise, NansPassThroughWhereTheyShould) {
  for (const char* op : {"Relu", "Sign", "Abs", "HardSwish", "Softplus", "Round", "Floor"})
    expect_tensor(run({op, 14, {given({2}, {kNan, 1})}}), {2},
                  {kNan, run({op, 14, {given({1}, {1})}}).get(0)});
  expect_tensor(run({"Max", 13, {given({3}, {kNan, 1, 2}), given({3}, {1, kNan, 3})}}), {3}, {kNan, kNan, 3});
  expect_tensor(run({"Min", 13, {given({3}, {kNan, 1, 2}), given({3}, {1, kNan, 3})}}), {3}, {kNan, kNan, 2});
  expect_tensor(run({"Clip", 13, {given({3}, {kNan, -1, 9}), known({}, {0}, kF32), known({}, {6}, kF32)}}),
                {3}, {kNan, 0, 6});
  expect_tensor(run({"IsNaN", 13, {given({3}, {kNan, -1, kInf})}}), {3}, {1, 0, 0});
  expect_tensor(run({"IsInf", 10, {given({4}, {kNan, -1, kInf, -kInf})}}), {4}, {0, 0, 1, 1});
  expect_tensor(run({"IsInf", 10, {given({4}, {kNan, -1, kInf, -kInf})}, {{"detect_negative", int64_t{0}}}}),
                {4}, {0, 0, 1, 0});
}

TEST(OnnxElementwise, RoundTakesHalvesToTheEvenNeighbour) {
  expect_tensor(run({"Round", 11, {given({6}, {0.5, 1.5, 2.5, -0.5, -1.5, kInf})}}), {6},
                {0, 2, 2, 0, -2, kInf});
}

TEST(OnnxElementwise, BinaryOperatorsBroadcastBothWays) {
  const Given a = given({2, 1}, {10, 20});
  const Given b = given({3}, {1, 2, 4});
  expect_tensor(run({"Add", 14, {a, b}}), {2, 3}, {11, 12, 14, 21, 22, 24});
  expect_tensor(run({"Sub", 14, {a, b}}), {2, 3}, {9, 8, 6, 19, 18, 16});
  expect_tensor(run({"Mul", 14, {a, b}}), {2, 3}, {10, 20, 40, 20, 40, 80});
  expect_tensor(run({"Div", 14, {a, b}}), {2, 3}, {10, 5, 2.5, 20, 10, 5});
  expect_tensor(run({"Pow", 15, {b, given({}, {3})}}), {3}, {1, 8, 64});
  expect_tensor(run({"Pow", 15, {given({2}, {-3, 2}), known({}, {3}, kI64)}}), {2}, {-27, 8});
  expect_tensor(run({"Sum", 13, {a, b, given({}, {100})}}), {2, 3}, {111, 112, 114, 121, 122, 124});
  expect_tensor(run({"Mean", 13, {a, b}}), {2, 3}, {5.5, 6, 7, 10.5, 11, 12});
  expect_tensor(run({"PRelu", 16, {given({2, 2}, {-1, 2, -3, -4}), given({2}, {0.5, 0.25})}}), {2, 2},
                {-0.5, 2, -1.5, -1});
  EXPECT_THAT(refusal_of({"Add", 14, {a, given({2, 3, 2}, std::vector<double>(12))}}),
              testing::HasSubstr("cannot be broadcast"));
}

TEST(OnnxElementwise, TheLargestOfManyIsFoundInAShortText) {
  Use use{"Max", 13, {}};
  for (int i = 0; i < 64; ++i) use.inputs.emplace_back(given({2}, {static_cast<double>(i % 50), -1.0}));
  use.inputs[7] = given({2}, {3, kNan});
  expect_tensor(run(use), {2}, {49, kNan});
  use.op = "Min";
  expect_tensor(run(use), {2}, {0, kNan});
}

// Squares overflow from 1e154 on.
TEST(OnnxElementwise, InverseHyperbolicFunctionsTakeAllOfF64) {
  const std::vector<double> xs{-1e300, -1e154, -3.0, -0.25, 0.0, 0.5, 1.0, 1.5, 1e9, 1.4e154, 1e308, kInf};
  std::vector<double> asinh, acosh;
  for (const double x : xs) {
    asinh.push_back(std::asinh(x));
    acosh.push_back(std::acosh(std::max(x, 1.0)));
  }
  const auto count = static_cast<int64_t>(xs.size());
  expect_tensor(run({"Asinh", 9, {given({count}, xs, kF64)}}), {count}, asinh);
  std::vector<double> above = xs;
  for (double& x : above) x = std::max(x, 1.0);
  expect_tensor(run({"Acosh", 9, {given({count}, above, kF64)}}), {count}, acosh);
  expect_tensor(run({"Acosh", 9, {given({2}, {0.5, -2.0}, kF64)}}), {2}, {kNan, kNan});
}

TEST(OnnxElementwise, IntegersDivideTowardsZero) {
  expect_tensor(run({"Div", 14, {given({4}, {7, -7, 7, -7}, kI32), given({4}, {2, 2, -2, -2}, kI32)}}), {4},
                {3, -3, -3, 3});
  expect_tensor(run({"Div", 14, {given({2}, {7, -7}, kI64), known({}, {2})}}), {2}, {3, -3});
  expect_tensor(run({"Mod", 13, {given({4}, {7, -7, 7, -7}, kI32), given({4}, {3, 3, -3, -3}, kI32)}}), {4},
                {1, 2, -2, -1});
  expect_tensor(run({"Mod",
                     13,
                     {given({4}, {7, -7, 7, -7}, kI32), given({4}, {3, 3, -3, -3}, kI32)},
                     {{"fmod", int64_t{1}}}}),
                {4}, {1, -1, 1, -1});
  expect_tensor(run({"Mod", 13, {given({2}, {7, -7}, kI64), known({1}, {3})}, {{"fmod", int64_t{1}}}}), {2},
                {1, -1});
  // The smallest integer has no positive counterpart.
  for (const auto& [type, smallest] : {std::pair{kI8, -0x1p7}, {kI32, -0x1p31}, {kI64, -0x1p63}}) {
    const Given x = given({2}, {smallest, -8}, type), by = known({}, {8}, type);
    expect_tensor(run({"Div", 14, {x, by}}), {2}, {smallest / 8, -1});
    expect_tensor(run({"Mod", 13, {x, by}, {{"fmod", int64_t{1}}}}), {2}, {0, 0});
  }
  expect_tensor(run({"Div", 14, {given({3}, {0, 9, 200}, kU8), given({3}, {1, 3, 7}, kU8)}}), {3},
                {0, 3, 28});
  expect_tensor(run({"Mod", 13, {given({3}, {0, 9, 200}, kU8), given({3}, {1, 3, 7}, kU8)}}), {3}, {0, 0, 4});
  EXPECT_THAT(refusal_of({"Div", 14, {given({1}, {7}, kI64), given({1}, {2}, kI64)}}),
              testing::HasSubstr("positive constant"));
  EXPECT_THAT(refusal_of({"Mod", 13, {given({1}, {7}), given({1}, {2})}, {{"fmod", int64_t{1}}}}),
              testing::HasSubstr("remainder of floating"));
}

TEST(OnnxElementwise, ComparisonsAndLogicGiveConditions) {
  const Given a = given({3}, {1, 2, 3});
  const Given b = given({3}, {2, 2, 2});
  expect_tensor(run({"Less", 13, {a, b}}), {3}, {1, 0, 0});
  expect_tensor(run({"LessOrEqual", 16, {a, b}}), {3}, {1, 1, 0});
  expect_tensor(run({"Greater", 13, {a, b}}), {3}, {0, 0, 1});
  expect_tensor(run({"GreaterOrEqual", 16, {a, b}}), {3}, {0, 1, 1});
  expect_tensor(run({"Equal", 13, {a, b}}), {3}, {0, 1, 0});
  const Given p = given({4}, {0, 0, 1, 1}, kBool);
  const Given q = given({4}, {0, 1, 0, 1}, kBool);
  expect_tensor(run({"And", 7, {p, q}}), {4}, {0, 0, 0, 1});
  expect_tensor(run({"Or", 7, {p, q}}), {4}, {0, 1, 1, 1});
  expect_tensor(run({"Xor", 7, {p, q}}), {4}, {0, 1, 1, 0});
  expect_tensor(run({"Equal", 13, {p, q}}), {4}, {1, 0, 0, 1});
  expect_tensor(run({"Not", 1, {p}}), {4}, {1, 1, 0, 0});
  expect_tensor(run({"Where", 16, {given({2, 1}, {1, 0}, kBool), a, given({}, {9})}}), {2, 3},
                {1, 2, 3, 9, 9, 9});
  EXPECT_EQ(run({"Where", 16, {p, p, q}}).dtype, kBool);
}

TEST(OnnxElementwise, CastsKeepOrCutValues) {
  const auto to = [](int64_t type) { return Attributes{{"to", type}}; };
  expect_tensor(run({"Cast", 13, {given({3}, {1.75, -1.75, 0})}, to(6)}), {3}, {1, -1, 0});
  expect_tensor(run({"Cast", 13, {given({3}, {1.75, kNan, 0})}, to(9)}), {3}, {1, 1, 0});
  expect_tensor(run({"Cast", 13, {given({2}, {1, 0}, kBool)}, to(1)}), {2}, {1, 0});
  expect_tensor(run({"Cast", 13, {given({1}, {1.0009765625 + 0x1p-12})}, to(10)}), {1}, {1.0009765625});
  expect_tensor(run({"CastLike", 15, {given({2}, {1.5, 2}), given({1}, {0}, kI64)}}), {2}, {1, 2});
  EXPECT_THAT(refusal_of({"Cast", 13, {given({1}, {1})}, to(8)}), testing::HasSubstr("number 8"));
}

TEST(OnnxElementwise, ClipTakesBoundsInBothForms) {
  const std::vector<double> xs{-2, 0.5, 7};
  expect_tensor(run({"Clip", 6, {given({3}, xs)}, {{"min", 0.0}, {"max", 6.0}}}), {3}, {0, 0.5, 6});
  expect_tensor(run({"Clip", 6, {given({3}, xs)}, {{"max", 6.0}}}), {3}, {-2, 0.5, 6});
  expect_tensor(run({"Clip", 13, {given({3}, xs), std::nullopt, given({}, {1})}}), {3}, {-2, 0.5, 1});
  expect_tensor(run({"Clip", 13, {given({3}, {-2, 1, 7}, kI8), given({}, {0}, kI8), known({}, {6}, kI8)}}),
                {3}, {0, 1, 6});
  EXPECT_THAT(refusal_of({"Clip", 13, {given({3}, xs)}, {{"max", 6.0}}}),
              testing::HasSubstr("attribute 'max' is not known in version 13"));
}

TEST(OnnxElementwise, RefusesAttributesOfAnotherTypeAndTypesThatItDoesNotTake) {
  EXPECT_THAT(refusal_of({"Elu", 6, {given({1}, {1})}, {{"alpha", int64_t{1}}}}),
              testing::AllOf(testing::HasSubstr("node 'node' (Elu@6)"),
                             testing::HasSubstr("attribute 'alpha' is of another type; expected a number")));
  EXPECT_THAT(refusal_of({"Exp", 13, {given({1}, {1}, kI32)}}),
              testing::HasSubstr("an input of type i32 is not taken"));
  EXPECT_THAT(refusal_of({"Relu", 14, {given({1}, {1})}, {{"slope", 1.0}}}),
              testing::HasSubstr("attribute 'slope' is not known"));
}

TEST(OnnxElementwise, DropoutIsTheIdentityAndItsMaskIsTrue) {
  const auto outputs = run_all({"Dropout", 13, {given({2}, {3, 4})}, {}, 2});
  expect_tensor(outputs.at(0), {2}, {3, 4});
  expect_tensor(outputs.at(1), {2}, {1, 1});
  EXPECT_THAT(
      refusal_of({"Dropout", 13, {given({2}, {3, 4}), known({}, {0.5}, kF32), known({}, {1}, kBool)}}),
      testing::HasSubstr("training"));
}

}  // namespace
}  // namespace tunesmith::operators_onnx
