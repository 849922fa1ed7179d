// The nearest integer is one instruction, and none before a conversion to a narrow integer.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <limits>
#include <vector>

#include <gtest/gtest.h>

#include "assembly_text.h"
#include "lowered_program.h"
#include "tunesmith/support/random.h"

namespace tunesmith {
namespace {

using testing::count_of;

/// out[i] = the integer nearest to x[i], as `type`.
LoweredProgram rounding(DType type, int64_t count, int lanes) {
  const Buffer x = make_buffer("x", kF32, {count}), out = make_buffer("out", type, {count});
  const Var i("i");
  const Expr at = ramp(Expr(i) * lanes, 1, lanes);
  const Expr nearest = call(MathOp::RoundEven, {load(x, {at})});
  return testing::make_lowered({x}, {out},
                               testing::make_loop(i, count / lanes, LoopKind::Serial,
                                                  testing::make_store(out, at, cast(type, nearest))));
}

/// Halves, their neighbours, drawn fractions, and numbers beyond every type.
std::vector<float> inputs() {
  constexpr float kInfinity = std::numeric_limits<float>::infinity();
  std::vector<float> made{0.0F,  -0.0F,  1e-45F,    8388607.5F, -8388609.0F,
                          1e10F, -1e30F, kInfinity, -kInfinity, std::numeric_limits<float>::quiet_NaN()};
  for (int i = -4000; i < 4000; ++i) {
    const float half = static_cast<float>(i) / 2;
    made.insert(made.end(), {half, std::nextafter(half, -1e9F), std::nextafter(half, 1e9F)});
  }
  RandomStream random(3);
  while (made.size() % 64 != 0 || made.size() < 30000)
    made.push_back(static_cast<float>(static_cast<int64_t>(random.next() % 2000000) - 1000000) / 64);
  return made;
}

template <typename T>
std::vector<T> compiled(llvm_target::LlvmTarget& target, DType type, int lanes) {
  std::vector<float> x = inputs();
  std::vector<T> got(x.size());
  testing::run_compiled(target, rounding(type, static_cast<int64_t>(x.size()), lanes),
                        {x.data(), got.data()});
  return got;
}

template <typename T>
void expect_saturated(llvm_target::LlvmTarget& target, DType type, int lanes) {
  const std::vector<float> x = inputs();
  const std::vector<T> got = compiled<T>(target, type, lanes);
  using Limits = std::numeric_limits<T>;
  for (size_t i = 0; i < x.size(); ++i) {
    const double nearest = std::isnan(x[i]) ? 0.0 : std::nearbyint(double{x[i]});
    ASSERT_EQ(double{got[i]}, std::clamp<double>(nearest, Limits::min(), Limits::max()))
        << x[i] << ' ' << type.str() << ' ' << lanes;
  }
}

TEST(RoundEven, IsTheEvenOneOfTwo) {
  const std::vector<float> x = inputs();
  for (const char* mcpu : {"native", "x86-64-v3", "x86-64"}) {
    const auto target = testing::make_target({{"mcpu", mcpu}});
    if (!target->probe().here()) continue;
    SCOPED_TRACE(mcpu);
    for (const int lanes : {1, 16}) {
      const std::vector<float> got = compiled<float>(*target, kF32, lanes);
      for (size_t i = 0; i < x.size(); ++i) {
        const float right = std::nearbyint(x[i]);
        if (std::isnan(right)) {
          ASSERT_TRUE(std::isnan(got[i]));
          continue;
        }
        ASSERT_EQ(got[i], right) << lanes;
        ASSERT_EQ(std::signbit(got[i]), std::signbit(right)) << x[i] << ' ' << lanes;
      }
      expect_saturated<int8_t>(*target, kI8, lanes);
      expect_saturated<uint8_t>(*target, kU8, lanes);
      expect_saturated<uint16_t>(*target, kU16, lanes);
      expect_saturated<int32_t>(*target, kI32, lanes);
    }
  }
}

TEST(RoundEven, IsOneInstruction) {
  const auto target = testing::make_target({{"mcpu", "skylake-avx512"}});
  const std::string code = target->assembly(rounding(kF32, 64, 16), "kernel");
  EXPECT_EQ(count_of(code, "vrndscaleps"), 1) << code;
}

TEST(RoundEven, IsPartOfAConversionToBytes) {
  const auto target = testing::make_target({{"mcpu", "skylake-avx512"}});
  const std::string code = target->assembly(rounding(kI8, 64, 16), "kernel");
  EXPECT_EQ(count_of(code, "vrndscaleps"), 0) << code;
  EXPECT_EQ(count_of(code, "vcvtps2dq"), 1) << code;
}

}  // namespace
}  // namespace tunesmith
