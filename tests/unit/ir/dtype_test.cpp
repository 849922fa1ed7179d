#include <cmath>
#include <limits>

#include <gtest/gtest.h>

#include <tunesmith/ir/dtype.h>

namespace tunesmith {
namespace {

TEST(DType, NamesParseBack) {
  for (const std::string& name : DType::names()) {
    const auto type = DType::parse(name);
    ASSERT_TRUE(type.has_value()) << name;
    EXPECT_EQ(type->str(), name);
  }
  EXPECT_EQ(kBF16.with_lanes(32).str(), "bf16x32");
  EXPECT_EQ(kBool.with_lanes(8).str(), "boolx8");
  EXPECT_FALSE(DType::parse("f8").has_value());
  EXPECT_FALSE(DType::parse("f32x8").has_value());
}

TEST(DType, F16RoundsToNearestEven) {
  EXPECT_EQ(round_to(kF16, 2048.0), 2048.0);
  EXPECT_EQ(round_to(kF16, 2049.0), 2048.0);  // tie, to the even one
  EXPECT_EQ(round_to(kF16, 2051.0), 2052.0);
  EXPECT_EQ(round_to(kF16, 65519.0), 65504.0);
  EXPECT_EQ(round_to(kF16, 65520.0), std::numeric_limits<double>::infinity());
  EXPECT_EQ(round_to(kF16, std::ldexp(1.0, -24)), std::ldexp(1.0, -24));  // the smallest subnormal
  EXPECT_EQ(round_to(kF16, std::ldexp(1.0, -25)), 0.0);
  EXPECT_EQ(round_to(kF16, std::ldexp(1.5, -25)), std::ldexp(1.0, -24));
  EXPECT_TRUE(std::signbit(round_to(kF16, -std::ldexp(1.0, -30))));
}

TEST(DType, BF16RoundsToNearestEven) {
  EXPECT_EQ(round_to(kBF16, 257.0), 256.0);
  EXPECT_EQ(round_to(kBF16, 259.0), 260.0);
  EXPECT_EQ(round_to(kBF16, -1e39), -std::numeric_limits<double>::infinity());
  EXPECT_TRUE(std::isnan(round_to(kBF16, std::nan(""))));
}

TEST(DType, UnitRoundoffIsHalfTheDistanceToTheNextValue) {
  for (const DType type : {kF64, kF32, kF16, kBF16}) {
    const double u = unit_roundoff(type);
    EXPECT_EQ(round_to(type, 1.0 + 2 * u), 1.0 + 2 * u) << type.str();
    EXPECT_EQ(round_to(type, 1.0 + u), 1.0) << type.str();
  }
  EXPECT_EQ(unit_roundoff(kI32), 0);
}

TEST(DType, IntegersWrap) {
  EXPECT_EQ(wrap_to(kI8, 128), -128);
  EXPECT_EQ(wrap_to(kI8, -129), 127);
  EXPECT_EQ(wrap_to(kU8, -1), 255);
  EXPECT_EQ(wrap_to(kI32, int64_t{1} << 31), -(int64_t{1} << 31));
  EXPECT_EQ(wrap_to(kBool, 4), 1);
}

}  // namespace
}  // namespace tunesmith
