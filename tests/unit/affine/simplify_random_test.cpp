// Compares the arithmetic with brute force at every point of small ranges.
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>

#include "unit/affine/brute_force.h"

namespace tunesmith {
namespace {

using test::evaluate;
using test::Point;
using test::Ranged;

/// True if the check succeeds, so that a broken case is reported once, not for each point.
bool check_index(const Expr& expr, const std::vector<Ranged>& vars) {
  const Analyzer analyzer = analyzer_of(vars);
  const Expr simple = analyzer.simplify(expr);
  const Expr linear = analyzer.linear(expr).to_expr();
  const Interval bounds = analyzer.bounds(expr);
  const std::string what = to_string(expr) + "  ->  " + to_string(simple) + "  where " + describe(vars);
  EXPECT_TRUE(analyzer.simplify(simple).same_as(simple) || equal(analyzer.simplify(simple), simple))
      << what << " simplifies further to " << to_string(analyzer.simplify(simple));
  bool good = !::testing::Test::HasFailure();
  for_each_point(vars, [&](const Point& point) {
    if (!good) return;
    const int64_t value = evaluate(expr, vars, point);
    good = evaluate(simple, vars, point) == value && evaluate(linear, vars, point) == value &&
           bounds.min <= value && value <= bounds.max;
    EXPECT_TRUE(good) << what << " bounds [" << bounds.min << ", " << bounds.max << "] at "
                      << ::testing::PrintToString(point) << " is " << value << ", simplified "
                      << evaluate(simple, vars, point);
  });
  return good;
}

TEST(SimplifyRandom, IndexExpressionsKeepTheirValuesAndStayInBounds) {
  RandomStream random(20240);
  for (int i = 0; i < 6000; ++i) {
    const auto vars = test::random_vars(random, 1 + random.below(3), 9, false);
    const Expr expr = test::random_index(random, vars, 1 + static_cast<int>(random.below(3)));
    ASSERT_TRUE(check_index(expr, vars)) << "case " << i;
  }
}

TEST(SimplifyRandom, ConditionsAreDecidedOnlyWhenTheyAlwaysHold) {
  RandomStream random(20241);
  int proven = 0;
  for (int i = 0; i < 6000; ++i) {
    const auto vars = test::random_vars(random, 1 + random.below(3), 8, false);
    const Expr condition = test::random_condition(random, vars, static_cast<int>(random.below(4)));
    const Analyzer analyzer = analyzer_of(vars);
    const Expr simple = analyzer.simplify(condition);
    const bool always = analyzer.can_prove(condition);
    proven += always;
    bool good = true;
    for_each_point(vars, [&](const Point& point) {
      const int64_t value = evaluate(condition, vars, point);
      good = good && evaluate(simple, vars, point) == value && (!always || value == 1);
    });
    ASSERT_TRUE(good) << to_string(condition) << "  ->  " << to_string(simple) << "  where "
                      << describe(vars);
  }
  // A prover that never proves would pass the rest.
  EXPECT_GT(proven, 500);
}

TEST(SimplifyRandom, EqualityIsProvenOnlyOfEqualExpressions) {
  RandomStream random(20242);
  int proven = 0;
  for (int i = 0; i < 3000; ++i) {
    const auto vars = test::random_vars(random, 2, 7, true);
    const Expr a = test::random_index(random, vars, 2);
    const Expr b = random.below(2) != 0 ? test::random_index(random, vars, 1) : analyzer_of(vars).simplify(a);
    if (!analyzer_of(vars).can_prove_equal(a, b)) continue;
    ++proven;
    for_each_point(vars, [&](const Point& point) {
      ASSERT_EQ(evaluate(a, vars, point), evaluate(b, vars, point)) << to_string(a) << " = " << to_string(b);
    });
  }
  EXPECT_GT(proven, 1000);
}

// Linear forms over independent variables have exact bounds, whatever was written.
TEST(SimplifyRandom, BoundsOfLinearExpressionsAreExact) {
  RandomStream random(20243);
  for (int i = 0; i < 1000; ++i) {
    const auto vars = test::random_vars(random, 3, 6, false);
    Expr expr = static_cast<int64_t>(random.below(11)) - 5;
    for (int term = 0; term < 5; ++term) {
      const Expr part = Expr(vars[random.below(3)].var) * (static_cast<int64_t>(random.below(15)) - 7);
      expr = random.below(3) == 0 ? expr - part : expr + part;
    }
    int64_t low = INT64_MAX;
    int64_t high = INT64_MIN;
    for_each_point(vars, [&](const Point& point) {
      low = std::min(low, evaluate(expr, vars, point));
      high = std::max(high, evaluate(expr, vars, point));
    });
    const Interval bounds = analyzer_of(vars).bounds(expr);
    ASSERT_EQ(bounds.min, low) << to_string(expr) << " where " << describe(vars);
    ASSERT_EQ(bounds.max, high) << to_string(expr) << " where " << describe(vars);
  }
}

// Indices as fuse and split write them: a number is divided and reassembled at several levels.
TEST(SimplifyRandom, TakenApartAndPutTogetherIsTheVariable) {
  RandomStream random(20244);
  for (int i = 0; i < 500; ++i) {
    const Var x("x");
    Analyzer analyzer;
    analyzer.bind(x, 1 + static_cast<int64_t>(random.below(500)));
    const int64_t inner = 2 + static_cast<int64_t>(random.below(7));
    const int64_t middle = 2 + static_cast<int64_t>(random.below(7));
    const Expr low = floormod(x, inner);
    const Expr mid = floormod(floordiv(x, inner), middle);
    const Expr high = floordiv(x, inner * middle);
    const Expr nested = floordiv(floordiv(x, inner), middle);
    ASSERT_TRUE(analyzer.can_prove_equal(high, nested));
    ASSERT_TRUE(equal(analyzer.simplify(high * (inner * middle) + mid * inner + low), analyzer.simplify(x)));
    ASSERT_TRUE(equal(analyzer.simplify((nested * middle + mid) * inner + low), analyzer.simplify(x)));
    ASSERT_TRUE(analyzer.can_prove_equal(mid * inner + low, floormod(x, inner * middle)));
  }
}

}  // namespace
}  // namespace tunesmith
