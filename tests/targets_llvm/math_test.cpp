#include <cmath>
#include <cstring>
#include <functional>
#include <limits>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// out[i] = op(x[i], y[i]) on vectors of `lanes`.
template <typename T>
std::vector<T> compute(MathOp op, int lanes, std::vector<T> x, std::vector<T> y = {}) {
  const DType type = sizeof(T) == 4 ? kF32 : kF64;
  const size_t count = x.size();
  const size_t padded = (count + 63) / 64 * 64;
  x.resize(padded);
  y.resize(padded);
  std::vector<T> result(padded);
  const Buffer in = make_buffer("x", type, {static_cast<int64_t>(padded)}),
               second = make_buffer("y", type, in->shape), out = make_buffer("out", type, in->shape);
  const Var i("i");
  const Expr at = ramp(Expr(i) * lanes, 1, lanes);
  std::vector<Expr> operands{load(in, {at})};
  if (op == MathOp::Pow) operands.push_back(load(second, {at}));
  const LoweredProgram lowered =
      testing::make_lowered({in, second}, {out},
                            testing::make_loop(i, static_cast<int64_t>(padded) / lanes, LoopKind::Serial,
                                               testing::make_store(out, at, call(op, operands))));
  const auto target = testing::make_target();
  testing::run_compiled(*target, lowered, {x.data(), y.data(), result.data()});
  result.resize(count);
  return result;
}

/// Distance in units of the last place of the f32 nearest to `right`; denormals count in the smallest one.
double ulps(float got, long double right) {
  const auto nearest = static_cast<float>(right);
  if (std::isnan(nearest) || std::isnan(got)) return std::isnan(nearest) && std::isnan(got) ? 0.0 : 1e30;
  if (std::isinf(nearest) || std::isinf(got)) {
    // One unit beyond the largest number counts as infinity, and the other way round.
    if (got == nearest) return 0.0;
    const float largest = std::copysign(std::numeric_limits<float>::max(), nearest);
    return got == largest || nearest == largest ? 1.0 : 1e30;
  }
  int exponent = 0;
  std::frexp(nearest, &exponent);
  const long double unit = std::ldexp(1.0L, std::max(exponent - 24, -149));
  return static_cast<double>(std::abs(static_cast<long double>(got) - right) / unit);
}

std::vector<float> samples(double low, double high) {
  std::vector<float> result;
  for (int i = 0; i < 200000; ++i) result.push_back(static_cast<float>(low + (high - low) * i / 200000));
  RandomStream random(7);
  for (int i = 0; i < 200000; ++i) {
    const auto bits = static_cast<uint32_t>(random.next());
    float value = 0;
    std::memcpy(&value, &bits, sizeof value);
    result.push_back(value);
  }
  for (const float value :
       {0.0F, -0.0F, kInf, -kInf, kNan, 1.0F, -1.0F, 1e-45F, -1e-45F, 1.2e-38F, 3.4e38F, -3.4e38F})
    result.push_back(value);
  return result;
}

using Reference = std::function<long double(long double)>;

double worst(MathOp op, int lanes, const std::vector<float>& inputs, const Reference& reference) {
  const std::vector<float> got = compute(op, lanes, inputs);
  double result = 0.0;
  float where = 0;
  for (size_t i = 0; i < inputs.size(); ++i) {
    const double error = ulps(got[i], reference(inputs[i]));
    if (error > result) {
      result = error;
      where = inputs[i];
    }
  }
  ::testing::Test::RecordProperty("worst_ulps", std::to_string(result));
  SCOPED_TRACE(where);
  EXPECT_LT(result, 1e20) << math_op_name(op) << " at " << where;
  return result;
}

struct Case {
  MathOp op;
  double low, high;
  double bound;  // as docs/targets.md promises
  Reference reference;
};

class MathAccuracy : public ::testing::TestWithParam<Case> {};

TEST_P(MathAccuracy, StaysWithinItsBound) {
  const Case& c = GetParam();
  // The width that has an instruction of its own for powers of two, one that has not, and scalars.
  for (const int lanes : {16, 8, 1}) {
    EXPECT_LE(worst(c.op, lanes, samples(c.low, c.high), c.reference), c.bound) << lanes << " lanes";
  }
}

INSTANTIATE_TEST_SUITE_P(
    F32, MathAccuracy,
    ::testing::Values(Case{MathOp::Exp, -105, 90, 1.5, [](long double x) { return std::exp(x); }},
                      Case{MathOp::Log, 0.01, 10, 1.5, [](long double x) { return std::log(x); }},
                      Case{MathOp::Tanh, -10, 10, 2.5, [](long double x) { return std::tanh(x); }},
                      Case{MathOp::Erf, -5, 5, 1.5, [](long double x) { return std::erf(x); }},
                      Case{MathOp::Sigmoid, -100, 100, 2.5,
                           [](long double x) { return 1.0L / (1.0L + std::exp(-x)); }},
                      Case{MathOp::Sqrt, 0, 100, 0.51, [](long double x) { return std::sqrt(x); }},
                      Case{MathOp::Rsqrt, 0.01, 100, 1.5, [](long double x) { return 1.0L / std::sqrt(x); }},
                      Case{MathOp::Floor, -100, 100, 0.0, [](long double x) { return std::floor(x); }},
                      Case{MathOp::Ceil, -100, 100, 0.0, [](long double x) { return std::ceil(x); }},
                      Case{MathOp::Abs, -100, 100, 0.0, [](long double x) { return std::abs(x); }}),
    [](const auto& tested) { return std::string(math_op_name(tested.param.op)); });

TEST(MathAccuracyOfPow, StaysWithinItsBound) {
  RandomStream random(11);
  std::vector<float> x, y;
  for (int i = 0; i < 100000; ++i) {
    x.push_back(static_cast<float>(std::exp(20.0 * random.uniform() - 10.0)));
    y.push_back(static_cast<float>(40.0 * random.uniform() - 20.0));
  }
  for (int i = 0; i < 2000; ++i) {
    x.push_back(static_cast<float>(4.0 * random.uniform() - 4.0));
    y.push_back(static_cast<float>(i % 21 - 10));
  }
  const std::vector<float> special = {0.0F,  -0.0F, 1.0F, -1.0F, 0.5F, 2.0F,   -2.0F, 3.0F,
                                      -3.0F, 2.5F,  kInf, -kInf, kNan, 1e-40F, 1e38F};
  for (const float a : special) {
    for (const float b : special) {
      x.push_back(a);
      y.push_back(b);
    }
  }
  for (const int lanes : {16, 1}) {
    const std::vector<float> got = compute(MathOp::Pow, lanes, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(got[i], std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]))), 0.6)
          << x[i] << " ^ " << y[i] << " gave " << got[i];
    }
  }
}

TEST(MathOfF64, IsTheLibrarys) {
  const std::vector<double> x = {-3.5, -1.0, -0.25, 0.0, 0.3, 1.0, 2.5, 700.0};
  const std::vector<std::pair<MathOp, double (*)(double)>> functions = {
      {MathOp::Exp, std::exp}, {MathOp::Tanh, std::tanh}, {MathOp::Erf, std::erf}, {MathOp::Log, std::log}};
  for (const auto& [op, reference] : functions) {
    for (const int lanes : {8, 1}) {
      const std::vector<double> got = compute(op, lanes, x);
      for (size_t i = 0; i < x.size(); ++i) {
        const double right = reference(x[i]);
        EXPECT_TRUE(got[i] == right || (std::isnan(got[i]) && std::isnan(right)))
            << math_op_name(op) << " " << x[i];
      }
    }
  }
}

}  // namespace
}  // namespace tunesmith
