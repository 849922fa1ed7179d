// Values of 2, 4 and 8 bits in types that kernels do not have, compared with the meaning of their bits.
#include <cmath>

#include "run_operator.h"

namespace tunesmith::operators_onnx {
namespace {

using network::Code;
using testing::HasSubstr;

struct Format {
  int64_t number;
  Code code;
  int exponent, fraction, bias;
  int largest;           ///< the byte of the largest value
  double beyond = kNan;  ///< the value of those out of range, without saturation
  bool has_no_negative_zero = false;
};

constexpr double kInfinity = std::numeric_limits<double>::infinity();
const Format kFormats[] = {{17, Code::F8E4M3Fn, 4, 3, 7, 0x7e},
                           {18, Code::F8E4M3FnUz, 4, 3, 8, 0x7f, kNan, true},
                           {19, Code::F8E5M2, 5, 2, 15, 0x7b, kInfinity},
                           {20, Code::F8E5M2FnUz, 5, 2, 16, 0x7f, kNan, true},
                           {23, Code::F4E2M1, 2, 1, 1, 0x7, 6}};

double value_of(const Format& format, int byte) {
  const int sign = 1 << (format.exponent + format.fraction);
  if (format.has_no_negative_zero && byte == sign) return kNan;
  const int bits = byte % sign, exponent = bits >> format.fraction, ones = 1 << format.fraction;
  double value = exponent == 0 ? std::ldexp(bits, 1 - format.bias - format.fraction)
                               : std::ldexp(ones + bits % ones, exponent - format.bias - format.fraction);
  if (bits > format.largest) value = bits == format.largest + 1 ? format.beyond : kNan;
  return byte >= sign ? -value : value;
}

int bytes_of(const Format& format) { return 2 << (format.exponent + format.fraction); }

TEST(OnnxCodes, EachByteHasItsValue) {
  for (const Format& format : kFormats) {
    Given bytes = counted({bytes_of(format)}, 0, 1, kU8);
    bytes.code = format.code;
    std::vector<double> expected;
    for (int i = 0; i < bytes_of(format); ++i) expected.push_back(value_of(format, i));
    expect_tensor(run({"Cast", 19, {bytes}, {{"to", int64_t{1}}}}), {bytes_of(format)}, expected, 0);
  }
}

/// The byte with the nearest value; of two equally near ones the even byte.
int nearest(const Format& format, double x, bool saturate) {
  const int sign = x < 0 || (x == 0 && std::signbit(x)) ? bytes_of(format) / 2 : 0;
  int best = 0;
  for (int i = 1; i <= format.largest; ++i) {
    const double now = std::abs(value_of(format, i) - std::abs(x)),
                 before = std::abs(value_of(format, best) - std::abs(x));
    if (now < before || (now == before && i % 2 == 0)) best = i;
  }
  const double step = value_of(format, format.largest) - value_of(format, format.largest - 1);
  const double end = value_of(format, format.largest) + step / 2;
  const bool is_out = std::abs(x) > end || (std::abs(x) == end && format.largest % 2 == 1);
  if (is_out && !saturate && format.has_no_negative_zero) return 0x80;
  if (is_out && !saturate && format.code != Code::F4E2M1) best = format.largest + 1;
  if (is_out && (saturate || format.code == Code::F4E2M1)) best = format.largest;
  return format.has_no_negative_zero && best == 0 ? 0 : best + sign;
}

TEST(OnnxCodes, ValuesBecomeTheNearestByte) {
  for (const Format& format : kFormats) {
    std::vector<double> xs{0.0, -0.0, 1e-30, -1e-30, 1e30, -1e30, kInfinity, -kInfinity};
    for (int i = 0; i < format.largest; ++i) {
      const double here = value_of(format, i), next = value_of(format, i + 1), middle = (here + next) / 2;
      for (const double x : {here, middle, std::nextafter(static_cast<float>(middle), 0.0F) * 1.0,
                             std::nextafter(static_cast<float>(middle), 1e9F) * 1.0})
        xs.insert(xs.end(), {x, -x});
    }
    const double last = value_of(format, format.largest), step = last - value_of(format, format.largest - 1);
    for (const double x : {last + step * 0.25, last + step * 0.5, last + step}) xs.insert(xs.end(), {x, -x});
    for (const bool saturate : {true, false}) {
      network::Network network = network_of({"Cast",
                                             19,
                                             {given({static_cast<int64_t>(xs.size())}, xs)},
                                             {{"to", format.number}, {"saturate", int64_t{saturate}}}});
      network::run_passes(network, {find_operator, {}});
      EXPECT_EQ(network.tensors[static_cast<size_t>(network.outputs[0])].code, format.code);
      const std::vector<Tensor> inputs{tensor_of(kF32, {static_cast<int64_t>(xs.size())}, xs)};
      const Tensor found = network::evaluate(network, inputs, network::Precision::AsTyped)[0];
      for (size_t i = 0; i < xs.size(); ++i)
        EXPECT_EQ(found.get_int(static_cast<int64_t>(i)), nearest(format, xs[i], saturate))
            << xs[i] << " as type " << format.number << (saturate ? ", saturated" : "");
    }
  }
}

TEST(OnnxCodes, IntegersOfFewBitsWrapAroundInACastAndEndInAQuantization) {
  const Given x = given({5}, {-9, -3, 1.75, 8, 16});
  expect_tensor(run({"Cast", 21, {x}, {{"to", int64_t{22}}}}), {5}, {7, -3, 1, -8, 0});
  expect_tensor(run({"Cast", 21, {x}, {{"to", int64_t{21}}}}), {5}, {7, 13, 1, 8, 0});
  expect_tensor(run({"Cast", 25, {x}, {{"to", int64_t{26}}}}), {5}, {-1, 1, 1, 0, 0});
  const auto quantized = [&](int64_t type) {
    return run({"QuantizeLinear", 25, {x, given({}, {1})}, {{"output_dtype", type}}});
  };
  expect_tensor(quantized(22), {5}, {-8, -3, 2, 7, 7});
  expect_tensor(quantized(21), {5}, {0, 0, 2, 8, 15});
  expect_tensor(quantized(25), {5}, {0, 0, 2, 3, 3});
}

TEST(OnnxCodes, AScaleIsAPowerOfTwo) {
  const Given x = given({5}, {1, 1.5, 2, 0x1p-126, kInfinity});
  const Attributes to{{"to", int64_t{24}}};
  expect_tensor(run({"Cast", 25, {x}, to}), {5}, {127, 128, 128, 1, 255});
  Attributes down = to;
  down["round_mode"] = "down";
  expect_tensor(run({"Cast", 25, {x}, down}), {5}, {127, 127, 128, 1, 255});
  Given bytes = given({4}, {0, 127, 254, 255}, kU8);
  bytes.code = Code::F8E8M0;
  expect_tensor(run({"Cast", 25, {bytes}, {{"to", int64_t{1}}}}), {4}, {0x1p-127, 1, 0x1p127, kNan});
}

TEST(OnnxCodes, OtherOperatorsMoveThemAndNothingElse) {
  Given x = given({2, 1}, {0x38, 0x40}, kU8);
  x.code = Code::F8E4M3Fn;
  network::Network network = network_of({"Transpose", 21, {x}});
  network::run_passes(network, {find_operator, {}});
  EXPECT_EQ(network.tensors[static_cast<size_t>(network.outputs[0])].code, Code::F8E4M3Fn);
  EXPECT_THAT(to_text(network), HasSubstr("f8e4m3fn[1, 2]"));
  EXPECT_THAT(refusal_of({"Add", 14, {x, x}}), HasSubstr("no type of kernels"));
  EXPECT_THAT(refusal_of({"Concat", 13, {x, given({2, 1}, {1, 2}, kU8)}, {{"axis", int64_t{0}}}}),
              HasSubstr("of different types"));
}

}  // namespace
}  // namespace tunesmith::operators_onnx
