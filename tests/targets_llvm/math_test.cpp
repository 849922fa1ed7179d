#include <algorithm>
#include <bit>
#include <cmath>
#include <fstream>
#include <functional>
#include <limits>
#include <sstream>

#include <gtest/gtest.h>

#include "lowered_program.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

constexpr float kInf = std::numeric_limits<float>::infinity();
constexpr float kNan = std::numeric_limits<float>::quiet_NaN();

/// out[i] = op(x[i], y[i]) on vectors of `lanes`.
template <typename T>
std::vector<T> compute(MathOp op, int lanes, std::vector<T> x, std::vector<T> y = {},
                       const std::string& mcpu = "native") {
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
  const auto target = testing::make_target({{"mcpu", mcpu}});
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
    result.push_back(std::bit_cast<float>(static_cast<uint32_t>(random.next())));
  }
  for (const float value :
       {0.0F, -0.0F, kInf, -kInf, kNan, 1.0F, -1.0F, 1e-45F, -1e-45F, 1.2e-38F, 3.4e38F, -3.4e38F})
    result.push_back(value);
  return result;
}

using Reference = std::function<long double(long double)>;

/// The error for f32 in the table of docs/targets.md.
double promised_ulps(MathOp op) {
  const std::string path = TUNESMITH_SOURCE_DIR "/docs/targets.md";
  std::ifstream file(path);
  const std::string row = "| `" + std::string(math_op_name(op)) + "` | ";
  for (std::string line; std::getline(file, line);) {
    if (line.starts_with(row)) return std::stod(line.substr(row.size()));
  }
  ADD_FAILURE() << path << " has no row for " << math_op_name(op);
  return 0.0;
}

/// A way to compile: several registers, one with tables of 16 and one of 8, vectors and scalars without
/// tables, a processor with tables of 8 only, and one without fused multiply-add.
struct Way {
  int lanes;
  const char* mcpu;
};
constexpr Way kWays[] = {{64, "native"}, {16, "native"},    {8, "native"}, {4, "native"},
                         {1, "native"},  {16, "x86-64-v3"}, {4, "x86-64"}};

/// Exponentials below it may be 0.
constexpr long double kTinyExponential = 2.4e-38L;

/// `tiny`: results below this may be 0.
void expect_within(double bound, MathOp op, const std::vector<float>& inputs, const Reference& reference,
                   long double tiny = 0.0L) {
  std::vector<long double> right;
  right.reserve(inputs.size());
  for (const float x : inputs) right.push_back(reference(x));
  for (const Way& way : kWays) {
    const std::vector<float> got = compute(op, way.lanes, inputs, {}, way.mcpu);
    double worst = 0.0;
    size_t where = 0;
    for (size_t i = 0; i < inputs.size(); ++i) {
      if (got[i] == 0.0F && right[i] < tiny) continue;
      const double error = ulps(got[i], right[i]);
      if (error > worst) {
        worst = error;
        where = i;
      }
    }
    EXPECT_LE(worst, bound) << math_op_name(op) << " of " << inputs[where] << " gave " << got[where]
                            << " and not " << right[where] << ", " << way.lanes << " lanes, " << way.mcpu;
    std::ostringstream property;
    property << worst << " at " << inputs[where];
    ::testing::Test::RecordProperty("worst_" + std::to_string(way.lanes) + "_" + way.mcpu, property.str());
  }
}

struct MathCase {
  MathOp op;
  double low, high;
  Reference reference;
  long double tiny = 0.0L;
};

class MathAccuracy : public ::testing::TestWithParam<MathCase> {};

TEST_P(MathAccuracy, StaysWithinThePromisedBound) {
  const MathCase& c = GetParam();
  expect_within(promised_ulps(c.op), c.op, samples(c.low, c.high), c.reference, c.tiny);
}

INSTANTIATE_TEST_SUITE_P(
    F32, MathAccuracy,
    ::testing::Values(MathCase{MathOp::Exp, -105, 90, [](long double x) { return std::exp(x); },
                               kTinyExponential},
                      MathCase{MathOp::Log, 0.01, 10, [](long double x) { return std::log(x); }},
                      MathCase{MathOp::Tanh, -10, 10, [](long double x) { return std::tanh(x); }},
                      MathCase{MathOp::Erf, -5, 5, [](long double x) { return std::erf(x); }},
                      MathCase{MathOp::Sigmoid, -100, 100,
                               [](long double x) { return 1.0L / (1.0L + std::exp(-x)); }, 4.3e-39L},
                      MathCase{MathOp::Sin, -1000, 1000, [](long double x) { return std::sin(x); }},
                      MathCase{MathOp::Cos, -1000, 1000, [](long double x) { return std::cos(x); }},
                      MathCase{MathOp::Sqrt, 0, 100, [](long double x) { return std::sqrt(x); }},
                      MathCase{MathOp::Rsqrt, 0.01, 100, [](long double x) { return 1.0L / std::sqrt(x); }}),
    [](const auto& tested) { return std::string(math_op_name(tested.param.op)); });

/// Tests arguments whose remainder has the fewest digits: around multiples of pi / 2, and the nearest of all.
TEST(MathAccuracyOfSinAndCos, HoldsAroundZerosAndToTheEndOfTheRange) {
  std::vector<float> inputs{16367173.0F * 0x1p+72F, 0x1.921fb6p+0F, 0x1.921fb4p+1F, 0x1p19F, 0x1.000002p19F};
  RandomStream random(11);
  for (int i = 0; i < 100000; ++i) {
    const auto n = static_cast<double>(random.below(333772));  // up to beyond 2^19
    float x = static_cast<float>(n * 1.57079632679489661923);
    for (int step = 0; step < 2; ++step) {
      inputs.push_back(x);
      inputs.push_back(-x);
      x = std::nextafter(x, kInf);
    }
  }
  for (uint64_t bits = 0; bits <= std::numeric_limits<uint32_t>::max(); bits += 65521)
    inputs.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  expect_within(promised_ulps(MathOp::Sin), MathOp::Sin, inputs, [](long double x) { return std::sin(x); });
  expect_within(promised_ulps(MathOp::Cos), MathOp::Cos, inputs, [](long double x) { return std::cos(x); });
}

TEST(MathAccuracyOfExp, HoldsOverTheWholeRange) {
  constexpr float kTiny = 0x1p-26F;  // below this all results are one
  constexpr float kHuge = 128.0F;    // above this all results are infinity, or zero
  constexpr uint32_t kStride = 127;
  constexpr uint32_t kCoarseStride = 65521;
  std::vector<float> inputs;
  for (const float sign : {1.0F, -1.0F}) {
    for (uint32_t bits = std::bit_cast<uint32_t>(kTiny); bits < std::bit_cast<uint32_t>(kHuge);
         bits += kStride)
      inputs.push_back(sign * std::bit_cast<float>(bits));
  }
  for (uint64_t bits = 0; bits <= std::numeric_limits<uint32_t>::max(); bits += kCoarseStride)
    inputs.push_back(std::bit_cast<float>(static_cast<uint32_t>(bits)));
  expect_within(
      promised_ulps(MathOp::Exp), MathOp::Exp, inputs, [](long double x) { return std::exp(x); },
      kTinyExponential);
}

TEST(MathAccuracyOfExp, IsExactAtTheEnds) {
  // The last argument with a finite result, its neighbour, and those below which the result may and must be
  // zero.
  const float last_finite = 0x1.62e42ep+6F, first_infinite = std::nextafter(last_finite, kInf);
  const float last_kept = -86.62F, first_zero = -104.0F;
  const std::vector<float> x = {0.0F,           -0.0F,     1e-45F,     -1e-45F, 1e-10F, last_finite,
                                first_infinite, last_kept, first_zero, kInf,    -kInf,  kNan};
  for (const Way& way : kWays) {
    const std::vector<float> got = compute(MathOp::Exp, way.lanes, x, {}, way.mcpu);
    for (size_t i = 0; i < x.size(); ++i) {
      const auto right = static_cast<float>(std::exp(static_cast<long double>(x[i])));
      // Neither end may move: the result is infinite if it is too large, and only then.
      EXPECT_EQ(std::isnan(got[i]), std::isnan(right)) << x[i];
      EXPECT_EQ(std::isinf(got[i]), std::isinf(right)) << x[i];
      EXPECT_EQ(got[i] == 0.0F, right == 0.0F)
          << x[i] << " gave " << got[i] << " at " << way.lanes << " lanes";
      if (std::abs(x[i]) < 1e-9F) {
        EXPECT_EQ(got[i], 1.0F) << x[i];
      }
    }
  }
}

TEST(MathOfF32, RoundsToIntegersAndTakesMagnitudesExactly) {
  const std::vector<float> inputs = samples(-100, 100);
  expect_within(0.0, MathOp::Floor, inputs, [](long double x) { return std::floor(x); });
  expect_within(0.0, MathOp::Ceil, inputs, [](long double x) { return std::ceil(x); });
  expect_within(0.0, MathOp::RoundEven, inputs, [](long double x) { return std::nearbyint(x); });
  expect_within(0.0, MathOp::Abs, inputs, [](long double x) { return std::abs(x); });
  expect_within(promised_ulps(MathOp::RoundTf32), MathOp::RoundTf32, inputs, [](long double x) {
    int exponent = 0;
    std::frexp(x, &exponent);
    exponent = std::max(exponent, -125);  // denormals lie 2^-136 apart
    return std::ldexp(std::round(std::ldexp(x, 11 - exponent)), exponent - 11);
  });
}

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
  const double bound = promised_ulps(MathOp::Pow);
  for (const int lanes : {16, 1}) {
    const std::vector<float> got = compute(MathOp::Pow, lanes, x, y);
    for (size_t i = 0; i < x.size(); ++i) {
      ASSERT_LE(ulps(got[i], std::pow(static_cast<long double>(x[i]), static_cast<long double>(y[i]))), bound)
          << x[i] << " ^ " << y[i] << " gave " << got[i];
    }
  }
}

TEST(MathOfF64, RoundsToTheNearestInteger) {
  const std::vector<double> x = {-2.5, -1.5, -0.3, 0.0, 0.5, 1.5, 2.7, 0x1.fffffffffffffp51, -0x1p60, 1e300};
  for (const char* mcpu : {"native", "x86-64"}) {
    for (const int lanes : {8, 1}) {
      const std::vector<double> got = compute(MathOp::RoundEven, lanes, x, {}, mcpu);
      for (size_t i = 0; i < x.size(); ++i) EXPECT_EQ(got[i], std::nearbyint(x[i])) << mcpu << " " << lanes;
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
