#include <gtest/gtest.h>

#include <tunesmith/affine/region.h>
#include <tunesmith/ir/printer.h>

#include "unit/affine/brute_force.h"

namespace tunesmith {
namespace {

using test::evaluate;
using test::Point;
using test::Ranged;

class RegionTest : public ::testing::Test {
 protected:
  RegionTest() {
    analyzer.bind(o, 14);
    analyzer.bind(i, 4);
    analyzer.bind(r, 3);
  }
  std::string relaxed(const Expr& index, std::vector<Var> moving) const {
    const auto range = relax(index, moving, analyzer);
    return range ? to_string(range->min) + " +" + std::to_string(range->extent) : "nothing";
  }
  static std::string text(const Region& region) {
    std::string all;
    for (const DimRange& dim : region)
      all += "[" + to_string(dim.min) + " +" + std::to_string(dim.extent) + "]";
    return all;
  }

  Var o{"o"}, i{"i"}, r{"r"}, x{"x"};
  Analyzer analyzer;
};

TEST_F(RegionTest, LinearIndicesGiveExactBoxes) {
  EXPECT_EQ(relaxed(o * 4 + i, {i}), "o*4 +4");
  EXPECT_EQ(relaxed(o * 4 + i, {}), "o*4 + i +1");
  EXPECT_EQ(relaxed(o * 4 + i, {o, i}), "0 +56");
  EXPECT_EQ(relaxed((o * 4 + i) * 2 + r - 1, {i, r}), "o*8 - 1 +9");
  EXPECT_EQ(relaxed(o * 4 - i, {i}), "o*4 - 3 +4");
  EXPECT_EQ(relaxed(x * 8 + i, {i}), "x*8 +4") << "what stands still needs no range";
  EXPECT_EQ(relaxed(o + x, {x}), "nothing") << "what moves does";
}

TEST_F(RegionTest, AnIndexThatIsDataIsAnywhereWithinItsBounds) {
  const Buffer table = make_buffer("T", kI64, {16});
  const auto clamped = [](const Expr& value) {
    return cast(kIndex, min(max(value, int_imm(0, value.dtype())), int_imm(7, value.dtype())));
  };
  const Expr data = clamped(load(table, {Expr(o)}));
  EXPECT_EQ(relaxed(data, {o}), "0 +8");
  EXPECT_EQ(relaxed(data, {}), "0 +8") << "whoever computes ahead what is read does not know it";
  EXPECT_EQ(relaxed(data * 4 + i, {i}), "0 +32");
  EXPECT_EQ(relaxed(data * 4 + x, {}), "x +29");
  EXPECT_EQ(relaxed(floordiv(data, 2), {}), "0 +4");
  EXPECT_EQ(relaxed(select(lt(data, 3), o, i), {i}), "0 +14") << "which of both is not known";
  const Expr narrow = clamped(load(make_buffer("B", kU8, {16}), {Expr(o)}));
  EXPECT_EQ(text(relax_access(make_buffer("W", kF32, {8, 14}), std::vector<Expr>{narrow, o},
                              std::vector<Var>{}, analyzer)),
            "[0 +8][o +1]");
}

TEST_F(RegionTest, DivisionsThatFollowTheTileAreExact) {
  EXPECT_EQ(relaxed(floordiv(o * 4 + i, 2), {i}), "o*2 +2");
  EXPECT_EQ(relaxed(floormod(o * 4 + i, 8), {i}), "o%2*4 +4");
  EXPECT_EQ(relaxed(floordiv(o * 4 + i, 8), {i}), "o//2 +1");
}

TEST_F(RegionTest, DivisionsAcrossTilesGiveALargerBox) {
  EXPECT_EQ(relaxed(floordiv(o * 4 + i, 6), {i}), "o*2//3 +2");
  EXPECT_EQ(relaxed(floordiv(x + i, 4), {i}), "x//4 +2");
  EXPECT_EQ(relaxed(floormod(o * 4 + i, 6), {i}), "0 +6");
}

TEST_F(RegionTest, ClampedAndGuardedIndices) {
  EXPECT_EQ(relaxed(min(o * 4 + i, 50), {i}), "min(o*4, 50) +4");
  EXPECT_EQ(relaxed(select(lt(o, 7), o * 4 + i, o * 4), {i}), "o*4 +4");
  EXPECT_EQ(relaxed(select(lt(i, 2), o * 4 + i, o * 4 - r), {i, r}), "o*4 - 2 +6");
}

TEST_F(RegionTest, WhatCannotBeShownIsTheWholeDimension) {
  const Buffer table = make_buffer("T", kI64, {16});
  const Buffer a = make_buffer("A", kF32, {60, 5, 100});
  const std::vector<Expr> indices{o * 4 + i, o * 4 + i, cast(kIndex, load(table, {Expr(i)}))};
  EXPECT_EQ(text(relax_access(a, indices, std::vector<Var>{i}, analyzer)), "[o*4 +4][o*4 +4][0 +100]");
  EXPECT_EQ(text(relax_access(a, indices, std::vector<Var>{i, o}, analyzer)), "[0 +56][0 +5][0 +100]");
}

TEST_F(RegionTest, UnionsOfShiftedBoxesAreExact) {
  const Buffer a = make_buffer("A", kF32, {60});
  EXPECT_EQ(text(unite({{o * 4, 4}}, {{o * 4 + 2, 4}}, a, analyzer)), "[o*4 +6]");
  EXPECT_EQ(text(unite({{o * 4 + 2, 4}}, {{o * 4, 4}}, a, analyzer)), "[o*4 +6]");
  EXPECT_EQ(text(unite({{o * 4, 8}}, {{o * 4 + 2, 4}}, a, analyzer)), "[o*4 +8]");
  EXPECT_EQ(text(unite({{o * 4, 2}}, {{o * 4 + i, 2}}, a, analyzer)), "[o*4 +5]");
  EXPECT_EQ(text(unite({{o * 4, 2}}, {{x, 2}}, a, analyzer)), "[0 +60]");
  EXPECT_EQ(text(unite({{o * 4, 4}}, {{Expr(0), 4}}, a, analyzer)), "[0 +56]");
}

TEST_F(RegionTest, CoversNeedsEveryValue) {
  EXPECT_TRUE(covers({{o * 4, 4}}, {{o * 4 + i, 1}}, analyzer));
  EXPECT_FALSE(covers({{o * 4, 4}}, {{o * 4 + i, 2}}, analyzer));
  EXPECT_TRUE(covers({{0, 56}}, {{o * 4, 4}}, analyzer));
  EXPECT_FALSE(covers({{0, 55}}, {{o * 4, 4}}, analyzer));
  EXPECT_FALSE(covers({{0, 55}}, {{x, 4}}, analyzer));
  EXPECT_TRUE(covers({{x, 4}}, {{x + 1, 3}}, analyzer));
}

struct RandomAccess {
  std::vector<Ranged> vars;
  std::vector<Var> moving;
  Analyzer analyzer;

  explicit RandomAccess(RandomStream& random)
      : vars(test::random_vars(random, 2 + random.below(2), 7, false)), analyzer(test::analyzer_of(vars)) {
    for (const Ranged& v : vars) {
      if (random.below(2) != 0) moving.push_back(v.var);
    }
  }
};

TEST_F(RegionTest, RelaxedBoxesHoldEveryElementTouched) {
  RandomStream random(31);
  int relaxed_to_less = 0;
  for (int n = 0; n < 5000; ++n) {
    const RandomAccess access(random);
    const Expr index = test::random_index(random, access.vars, 1 + static_cast<int>(random.below(3)));
    const auto range = relax(index, access.moving, access.analyzer);
    if (!range) continue;
    for (const Var& var : access.moving) ASSERT_FALSE(uses_var(range->min, var)) << to_string(index);
    const Interval all = access.analyzer.bounds(index);
    relaxed_to_less += range->extent < all.max - all.min + 1;
    for_each_point(access.vars, [&](const Point& point) {
      const int64_t value = evaluate(index, access.vars, point);
      const int64_t first = evaluate(range->min, access.vars, point);
      ASSERT_TRUE(first <= value && value < first + range->extent)
          << to_string(index) << " in " << to_string(range->min) << " +" << range->extent << " where "
          << describe(access.vars) << " at " << ::testing::PrintToString(point);
    });
  }
  EXPECT_GT(relaxed_to_less, 1000);
}

TEST_F(RegionTest, RelaxedLinearBoxesAreTight) {
  RandomStream random(32);
  for (int n = 0; n < 1000; ++n) {
    const RandomAccess access(random);
    Expr index = static_cast<int64_t>(random.below(9)) - 4;
    for (const Ranged& v : access.vars) index = index + v.var * (static_cast<int64_t>(random.below(9)) - 4);
    const auto range = relax(index, access.moving, access.analyzer);
    ASSERT_TRUE(range.has_value());
    int64_t low = INT64_MAX;
    int64_t high = INT64_MIN;
    for_each_point(access.vars, [&](const Point& point) {
      const int64_t offset = evaluate(index, access.vars, point) - evaluate(range->min, access.vars, point);
      low = std::min(low, offset);
      high = std::max(high, offset);
    });
    ASSERT_EQ(low, 0) << to_string(index);
    ASSERT_EQ(high, range->extent - 1) << to_string(index);
  }
}

TEST_F(RegionTest, UnionsHoldBothAndCoverageIsNeverWrong) {
  RandomStream random(33);
  const Buffer huge = make_buffer("A", kF32, {1 << 20});
  int covered = 0;
  for (int n = 0; n < 3000; ++n) {
    const RandomAccess access(random);
    const auto region = [&] {
      return Region{{test::random_index(random, access.vars, 1), 1 + static_cast<int64_t>(random.below(20))}};
    };
    const Region a = region();
    const Region b = region();
    const Region both = unite(a, b, huge, access.analyzer);
    const bool claims = covers(a, b, access.analyzer);
    covered += claims;
    for_each_point(access.vars, [&](const Point& point) {
      const auto holds = [&](const Region& outer, const Region& inner) {
        const int64_t out = evaluate(outer[0].min, access.vars, point);
        const int64_t in = evaluate(inner[0].min, access.vars, point);
        return out <= in && in + inner[0].extent <= out + outer[0].extent;
      };
      ASSERT_TRUE(holds(both, a) && holds(both, b)) << text(a) << " and " << text(b) << " in " << text(both);
      ASSERT_TRUE(!claims || holds(a, b)) << text(a) << " covers " << text(b);
    });
  }
  EXPECT_GT(covered, 100);
}

}  // namespace
}  // namespace tunesmith
