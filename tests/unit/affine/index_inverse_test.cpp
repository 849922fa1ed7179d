#include "affine/index_inverse.h"

#include <gtest/gtest.h>

#include "unit/affine/brute_force.h"

namespace tunesmith {
namespace {

using test::evaluate;
using test::for_each_point;
using test::Point;
using test::Ranged;

std::vector<Ranged> ranges_of(const std::vector<IterDomain>& domains) {
  std::vector<Ranged> vars;
  for (const auto& [var, extent] : domains) vars.push_back({var, 0, extent - 1});
  return vars;
}

void expect_inverted(const std::vector<IterDomain>& domains, const std::vector<Expr>& indices) {
  const std::vector<Ranged> vars = ranges_of(domains);
  for_each_point(vars, [&](const Point& point) {
    std::vector<Expr> values;
    for (const Expr& index : indices) values.emplace_back(evaluate(index, vars, point));
    const auto inverse = invert(domains, indices, values);
    ASSERT_TRUE(inverse.has_value());
    for (size_t i = 0; i < point.size(); ++i) EXPECT_EQ(evaluate((*inverse)[i], {}, {}), point[i]);
  });
}

TEST(IndexInverse, TellsTheIterationAtEveryPoint) {
  const Var i("i"), j("j"), one("one");
  expect_inverted({{i, 3}, {j, 5}}, {j, i});
  expect_inverted({{i, 3}, {j, 5}, {one, 1}}, {i + 2, 0, 4 - j});
  expect_inverted({{i, 3}, {j, 5}}, {i * 5 + j + 7});
  expect_inverted({{i, 12}, {j, 5}}, {floordiv(i, 4), j, floormod(i, 4)});
  expect_inverted({{i, 3}, {j, 8}}, {floordiv(j, 2) * 3 + i, floormod(j, 2)});
  expect_inverted({{i, 24}}, {floordiv(i, 6), floormod(floordiv(i, 2), 3), floormod(i, 2)});
}

TEST(IndexInverse, RefusesWhatDoesNotTellIt) {
  const Var i("i"), j("j"), other("other");
  const std::vector<IterDomain> domains{{i, 3}, {j, 5}};
  const auto told = [&](const std::vector<Expr>& indices) {
    return invert(domains, indices, std::vector<Expr>(indices.size(), Expr(1))).has_value();
  };
  EXPECT_TRUE(told({i, j}));
  EXPECT_FALSE(told({i}));                  // j is missing
  EXPECT_FALSE(told({i + j}));              // the terms overlap
  EXPECT_FALSE(told({i * 6 + j}));          // leaves a gap
  EXPECT_FALSE(told({i * 2, j}));           // odd elements have no iteration
  EXPECT_FALSE(told({i, j, i}));            // the second index may disagree
  EXPECT_FALSE(told({i, floordiv(j, 2)}));  // the lower digit is missing
  EXPECT_FALSE(told({i, j + other}));       // has an unknown variable
}

TEST(IndexInverse, RangesHoldEveryIterationThatMeetsTheRegion) {
  const Var i("i"), j("j"), inner("inner");
  const std::vector<IterDomain> domains{{i, 12}, {j, 5}};
  Analyzer analyzer;
  analyzer.bind(inner, 3);
  const std::vector<Ranged> vars = ranges_of({{i, 12}, {j, 5}, {inner, 3}});
  const std::vector<std::vector<Expr>> cases = {
      {i, j}, {i * 2 + inner, 3 - j}, {floordiv(i, 4), floormod(i, 4)}, {i * 5 + j, 0}, {i + inner - 1, j}};
  for (const std::vector<Expr>& indices : cases) {
    for (const Region& region : {Region{{3, 2}, {0, 1}}, Region{{2, 1}, {1, 2}}, Region{{7, 1}, {0, 4}}}) {
      const std::vector<DimRange> ranges = solve_iters(domains, indices, region, analyzer);
      ASSERT_EQ(ranges.size(), 2U);
      for_each_point(vars, [&](const Point& point) {
        for (size_t d = 0; d < indices.size(); ++d) {
          const int64_t from_first = evaluate(indices[d] - region[d].min, vars, point);
          if (from_first < 0 || from_first >= region[d].extent) return;
        }
        for (size_t n = 0; n < ranges.size(); ++n) {
          const int64_t first = evaluate(ranges[n].min, {}, {});
          EXPECT_GE(point[n], first);
          EXPECT_LT(point[n], first + ranges[n].extent);
        }
      });
    }
  }
  // The ranges are exact if each index is an iterator.
  const std::vector<DimRange> exact = solve_iters(domains, cases[0], {{3, 2}, {1, 3}}, analyzer);
  EXPECT_EQ(evaluate(exact[0].min, {}, {}), 3);
  EXPECT_EQ(exact[0].extent, 2);
  EXPECT_EQ(evaluate(exact[1].min, {}, {}), 1);
  EXPECT_EQ(exact[1].extent, 3);
}

}  // namespace
}  // namespace tunesmith
