#include <set>

#include <gtest/gtest.h>

#include <tunesmith/affine/iter_map.h>
#include <tunesmith/ir/printer.h>

#include "unit/affine/brute_force.h"

namespace tunesmith {
namespace {

using test::evaluate;
using test::Point;
using test::Ranged;

const Expr kAlways = bool_imm(true);

class IterMap : public ::testing::Test {
 protected:
  IterMapCheck check(const std::vector<Expr>& bindings, const std::vector<int64_t>& extents,
                     const std::vector<IterDomain>& domains, const Expr& predicate = kAlways) const {
    return check_iter_map(bindings, extents, domains, predicate);
  }
  Var a{"a"}, b{"b"}, c{"c"}, d{"d"};
};

#define EXPECT_BIJECTIVE(...)                       \
  {                                                 \
    const IterMapCheck result = check(__VA_ARGS__); \
    EXPECT_TRUE(result.injective) << result.reason; \
    EXPECT_TRUE(result.bijective) << result.reason; \
  }
#define EXPECT_INJECTIVE_ONLY(why, ...)             \
  {                                                 \
    const IterMapCheck result = check(__VA_ARGS__); \
    EXPECT_TRUE(result.injective) << result.reason; \
    EXPECT_FALSE(result.bijective);                 \
    EXPECT_EQ(result.reason, why);                  \
  }
#define EXPECT_NOT_INJECTIVE(why, ...)              \
  {                                                 \
    const IterMapCheck result = check(__VA_ARGS__); \
    EXPECT_FALSE(result.injective);                 \
    EXPECT_FALSE(result.bijective);                 \
    EXPECT_EQ(result.reason, why);                  \
  }

TEST_F(IterMap, LoopsInAnyOrder) {
  EXPECT_BIJECTIVE({Expr(b), Expr(a)}, {4, 3}, {{a, 3}, {b, 4}});
  EXPECT_BIJECTIVE({Expr(a), Expr(0)}, {3, 1}, {{a, 3}, {b, 1}});
  EXPECT_BIJECTIVE({}, {}, {});
}

TEST_F(IterMap, SplitLoops) {
  EXPECT_BIJECTIVE({a * 4 + b}, {12}, {{a, 3}, {b, 4}});
  EXPECT_BIJECTIVE({a + b * 3}, {12}, {{a, 3}, {b, 4}});
  EXPECT_BIJECTIVE({a * 8 + b * 2 + c, Expr(d)}, {24, 5}, {{d, 5}, {c, 2}, {b, 4}, {a, 3}});
  EXPECT_BIJECTIVE({Expr(11) - a * 4 - b}, {12}, {{a, 3}, {b, 4}});
}

TEST_F(IterMap, SplitsThatDoNotDivide) {
  EXPECT_BIJECTIVE({a * 4 + b}, {10}, {{a, 3}, {b, 4}}, lt(a * 4 + b, 10));
  EXPECT_BIJECTIVE({Expr(a)}, {10}, {{a, 16}}, lt(a, 10));
  EXPECT_BIJECTIVE({a * 4 + b, c * 4 + d}, {10, 7}, {{a, 3}, {c, 2}, {b, 4}, {d, 4}},
                   logical_and(lt(a * 4 + b, 10), lt(c * 4 + d, 7)));
  // A second split, of the inner half.
  EXPECT_BIJECTIVE({a * 4 + b * 3 + c}, {10}, {{a, 3}, {b, 2}, {c, 3}},
                   logical_and(lt(b * 3 + c, 4), lt(a * 4 + b * 3 + c, 10)));
  EXPECT_INJECTIVE_ONLY("a*4 + b leaves [0, 10)", {a * 4 + b}, {10}, {{a, 3}, {b, 4}});
  EXPECT_INJECTIVE_ONLY("9 of 10 points are reached", {a * 4 + b}, {10}, {{a, 3}, {b, 4}}, lt(a * 4 + b, 9));
}

TEST_F(IterMap, FusedLoops) {
  EXPECT_BIJECTIVE({floordiv(a, 4), floormod(a, 4)}, {3, 4}, {{a, 12}});
  EXPECT_BIJECTIVE({floordiv(a, 10), floormod(floordiv(a, 2), 5), floormod(a, 2)}, {3, 5, 2}, {{a, 30}});
  EXPECT_INJECTIVE_ONLY("10 of 12 points are reached", {floordiv(a, 4), floormod(a, 4)}, {3, 4}, {{a, 10}});
}

TEST_F(IterMap, FusedAndSplitAgain) {
  const Expr x = a * 4 + b;
  EXPECT_BIJECTIVE({floordiv(x, 6), floormod(x, 6)}, {4, 6}, {{a, 6}, {b, 4}});
  EXPECT_BIJECTIVE({floordiv(x, 12), floormod(floordiv(x, 6), 2), floormod(x, 6)}, {2, 2, 6},
                   {{a, 6}, {b, 4}});
  EXPECT_BIJECTIVE({floordiv(x, 5), floormod(x, 5)}, {3, 5}, {{a, 4}, {b, 4}}, lt(x, 15));
  EXPECT_BIJECTIVE({floordiv(x, 15), floormod(x, 15)}, {2, 15}, {{a, 8}, {b, 4}}, lt(x, 30));
  EXPECT_BIJECTIVE({floordiv(x, 10), floormod(floordiv(x, 2), 5), floormod(x, 2)}, {3, 5, 2},
                   {{a, 8}, {b, 4}}, lt(x, 30));
  // split i by 4, fuse its inner half with j
  EXPECT_BIJECTIVE({a * 4 + floordiv(b, 8), floormod(b, 8)}, {10, 8}, {{a, 3}, {b, 32}},
                   lt(a * 4 + floordiv(b, 8), 10));
}

// The parts of the number a*20 + b*2 + c after each was simplified separately.
TEST_F(IterMap, PartsOfOneNumberThatNoLongerLookIt) {
  const Expr number = a * 20 + b * 2 + c;
  EXPECT_TRUE(
      check({floordiv(number, 35), floormod(a * 4 + floordiv(b * 2 + c, 5), 7), floormod(b * 2 + c, 5)},
            {5, 7, 5}, {{a, 9}, {b, 10}, {c, 2}}, lt(number, 175))
          .injective);
}

TEST_F(IterMap, BindingsThatShareOrLoseLoops) {
  EXPECT_NOT_INJECTIVE("terms of a*2 + b overlap", {a * 2 + b}, {20}, {{a, 8}, {b, 3}});
  EXPECT_NOT_INJECTIVE("loop b is in no binding", {Expr(a)}, {4}, {{a, 4}, {b, 2}});
  EXPECT_NOT_INJECTIVE("the bindings do not determine loop a", {floordiv(a, 2)}, {2}, {{a, 4}});
  EXPECT_NOT_INJECTIVE("the bindings do not determine loop a", {floormod(a, 2)}, {2}, {{a, 4}});
  EXPECT_NOT_INJECTIVE("the bindings do not determine loop a", {floordiv(a, 4), floormod(a, 2)}, {2, 2},
                       {{a, 8}});
  EXPECT_NOT_INJECTIVE("a*b is not a sum of quasi-affine terms over the loops", {a * b}, {9},
                       {{a, 3}, {b, 4}});
  EXPECT_NOT_INJECTIVE("a + c is not a sum of quasi-affine terms over the loops", {a + c}, {9}, {{a, 3}});
}

TEST_F(IterMap, InjectiveButNotOnto) {
  EXPECT_INJECTIVE_ONLY("8 of 16 points are reached", {a * 2}, {16}, {{a, 8}});
  EXPECT_INJECTIVE_ONLY("12 of 16 points are reached", {a * 4 + b}, {16}, {{a, 4}, {b, 3}});
  EXPECT_INJECTIVE_ONLY("a + 1 leaves [0, 8)", {a + 1}, {8}, {{a, 8}});
  EXPECT_INJECTIVE_ONLY("4 of 16 points are reached", {Expr(a), Expr(a)}, {4, 4}, {{a, 4}});
  EXPECT_INJECTIVE_ONLY("cannot analyse the predicate 3 <= a", {Expr(a)}, {8}, {{a, 8}}, le(3, a));
}

TEST_F(IterMap, OnlyThePredicateMakesItInjective) {
  // 11 // 5 % 2 = 1 // 5 % 2, but 11 is not reached.
  const Expr x = a * 4 + b;
  const std::vector<Expr> bindings{floormod(floordiv(x, 5), 2), floormod(x, 5)};
  EXPECT_BIJECTIVE(bindings, {2, 5}, {{a, 3}, {b, 4}}, lt(x, 10));
  EXPECT_FALSE(check(bindings, {2, 5}, {{a, 3}, {b, 4}}).injective);
}

TEST_F(IterMap, IterSumNamesItsSplits) {
  const std::vector<IterDomain> domains{{a, 12}, {b, 5}};
  const auto sum = as_iter_sum(floordiv(a, 4) + floormod(floordiv(a, 2), 2) * 15 + b * 3 + 7, domains);
  ASSERT_TRUE(sum.has_value());
  EXPECT_EQ(sum->base, 7);
  ASSERT_EQ(sum->terms.size(), 3u);
  EXPECT_TRUE(sum->terms[0].source == a);
  EXPECT_EQ(sum->terms[0].lower_factor, 2);
  EXPECT_EQ(sum->terms[0].extent, 2);
  EXPECT_EQ(sum->terms[0].scale, 15);
  EXPECT_TRUE(sum->terms[1].source == b);
  EXPECT_EQ(sum->terms[1].scale, 3);
  EXPECT_EQ(sum->terms[2].lower_factor, 4);
  EXPECT_EQ(sum->terms[2].extent, 3);
  EXPECT_EQ(sum->terms[2].scale, 1);
  EXPECT_FALSE(as_iter_sum(a * b, domains).has_value());
  EXPECT_FALSE(as_iter_sum(a + c, domains).has_value());
  EXPECT_FALSE(as_iter_sum(floordiv(a * 4 + b, 6), domains).has_value());
}

/// The properties of a map by brute force.
struct Truth {
  bool injective = true;
  bool bijective = true;
};

Truth truth_of(const std::vector<Expr>& bindings, const std::vector<int64_t>& extents,
               const std::vector<IterDomain>& domains, const Expr& predicate) {
  std::vector<Ranged> vars;
  for (const IterDomain& domain : domains) vars.push_back({domain.var, 0, domain.extent - 1});
  Truth truth;
  std::set<Point> seen;
  for_each_point(vars, [&](const Point& point) {
    if (!evaluate(predicate, vars, point)) return;
    Point result;
    for (size_t i = 0; i < bindings.size(); ++i) {
      result.push_back(evaluate(bindings[i], vars, point));
      if (result[i] < 0 || result[i] >= extents[i]) truth.bijective = false;
    }
    if (!seen.insert(result).second) truth.injective = truth.bijective = false;
  });
  int64_t box = 1;
  for (const int64_t extent : extents) box *= extent;
  if (static_cast<int64_t>(seen.size()) != box) truth.bijective = false;
  return truth;
}

std::string describe(const std::vector<Expr>& bindings, const std::vector<IterDomain>& domains,
                     const Expr& predicate) {
  std::string text;
  for (const Expr& binding : bindings) text += to_string(binding) + ", ";
  text += "over ";
  for (const IterDomain& domain : domains)
    text += domain.var->name + "<" + std::to_string(domain.extent) + " ";
  return text + "where " + to_string(predicate);
}

/// Loops and bindings as after split, fuse and reorder.
struct Nest {
  std::vector<Expr> bindings;
  std::vector<int64_t> extents;
  std::vector<IterDomain> loops;
  Expr predicate = bool_imm(true);
  int names = 0;

  Nest(RandomStream& random, size_t axes, int64_t max_extent) {
    for (size_t i = 0; i < axes; ++i) {
      loops.push_back({fresh(), 1 + static_cast<int64_t>(random.below(static_cast<uint64_t>(max_extent)))});
      bindings.emplace_back(loops.back().var);
      extents.push_back(loops.back().extent);
    }
  }
  Var fresh() {
    std::string name = "l";
    return Var(name + std::to_string(names++));
  }

  void substitute_loops(const Substitution& map) {
    Analyzer analyzer;
    for (const IterDomain& l : loops) analyzer.bind(l.var, l.extent);
    for (Expr& binding : bindings) binding = analyzer.simplify(substitute(binding, map));
    predicate = analyzer.simplify(substitute(predicate, map));
  }
  void split(size_t at, int64_t factor) {
    const IterDomain loop = loops[at];
    const IterDomain outer{fresh(), (loop.extent + factor - 1) / factor};
    const IterDomain inner{fresh(), factor};
    loops[at] = inner;
    loops.insert(loops.begin() + static_cast<std::ptrdiff_t>(at), outer);
    const Expr value = outer.var * factor + inner.var;
    substitute_loops({{loop.var, value}});
    if (loop.extent % factor != 0) predicate = logical_and(predicate, lt(value, loop.extent));
  }
  void fuse(size_t at) {
    const IterDomain outer = loops[at];
    const IterDomain inner = loops[at + 1];
    const IterDomain fused{fresh(), outer.extent * inner.extent};
    loops[at] = fused;
    loops.erase(loops.begin() + static_cast<std::ptrdiff_t>(at) + 1);
    substitute_loops(
        {{outer.var, floordiv(fused.var, inner.extent)}, {inner.var, floormod(fused.var, inner.extent)}});
  }
  void step(RandomStream& random) {
    const size_t at = random.below(loops.size());
    switch (random.below(3)) {
      case 0: {
        // Half of the splits divide.
        int64_t factor = 1 + static_cast<int64_t>(random.below(6));
        if (random.below(2) != 0) {
          while (loops[at].extent % factor != 0) --factor;
        }
        split(at, factor);
        break;
      }
      case 1:
        if (at + 1 < loops.size()) fuse(at);
        break;
      default:
        std::swap(loops[at], loops[random.below(loops.size())]);
        break;
    }
  }
  int64_t points() const {
    int64_t product = 1;
    for (const IterDomain& loop : loops) product *= loop.extent;
    return product;
  }
};

TEST_F(IterMap, WhatSplitFuseAndReorderMakeIsBijective) {
  RandomStream random(71);
  int proven = 0;
  int cases = 0;
  while (cases < 2000) {
    Nest nest(random, 1 + random.below(3), 12);
    for (size_t steps = 1 + random.below(6); steps > 0; --steps) nest.step(random);
    if (nest.points() > 3000) continue;
    ++cases;
    const Truth truth = truth_of(nest.bindings, nest.extents, nest.loops, nest.predicate);
    ASSERT_TRUE(truth.bijective) << "the test's own transformations";
    const IterMapCheck result = check_iter_map(nest.bindings, nest.extents, nest.loops, nest.predicate);
    proven += result.bijective;
  }
  EXPECT_EQ(proven, cases);
}

// The same nests with one change: the claim may fail, but must not be wrong.
TEST_F(IterMap, ClaimsOfBrokenNestsAreNeverWrong) {
  RandomStream random(72);
  int injective = 0;
  int cases = 0;
  while (cases < 3000) {
    Nest nest(random, 1 + random.below(3), 10);
    for (size_t steps = 1 + random.below(5); steps > 0; --steps) nest.step(random);
    if (nest.points() > 2000) continue;
    ++cases;
    Expr& binding = nest.bindings[random.below(nest.bindings.size())];
    const Var& loop = nest.loops[random.below(nest.loops.size())].var;
    const auto number = 1 + static_cast<int64_t>(random.below(6));
    switch (random.below(7)) {
      case 0:
        binding = binding + loop * number;
        break;
      case 1:
        binding = floordiv(binding, number);
        break;
      case 2:
        binding = floormod(binding, number);
        break;
      case 3:
        nest.predicate = bool_imm(true);
        break;
      case 4:
        nest.predicate = logical_and(nest.predicate, lt(loop, number));
        break;
      case 5:
        nest.predicate = logical_and(nest.predicate, le(number, binding + loop));
        break;
      default:
        binding = binding * number - loop;
        break;
    }
    const Truth truth = truth_of(nest.bindings, nest.extents, nest.loops, nest.predicate);
    const IterMapCheck result = check_iter_map(nest.bindings, nest.extents, nest.loops, nest.predicate);
    injective += result.injective;
    ASSERT_TRUE(!result.injective || truth.injective)
        << describe(nest.bindings, nest.loops, nest.predicate) << ": claims injective";
    ASSERT_TRUE(!result.bijective || truth.bijective)
        << describe(nest.bindings, nest.loops, nest.predicate) << ": claims bijective";
    ASSERT_EQ(result.reason.empty(), result.bijective);
  }
  EXPECT_GT(injective, 500);
}

// i - i // 4 is below 4 for 0 to 4, and is 3 twice.
TEST_F(IterMap, APredicateInWhichALoopFallsAndRises) {
  const Var i("i");
  const std::vector<IterDomain> domains{{i, 8}};
  const std::vector<Expr> bindings{i - floordiv(i, 4)};
  const std::vector<int64_t> extents{4};
  EXPECT_FALSE(check_iter_map(bindings, extents, domains, lt(bindings[0], 4)).injective);
  EXPECT_FALSE(truth_of(bindings, extents, domains, lt(bindings[0], 4)).injective);
}

TEST_F(IterMap, ClaimsOfRandomBindingsAreNeverWrong) {
  RandomStream random(73);
  int injective = 0;
  int bijective = 0;
  for (int n = 0; n < 40000; ++n) {
    const auto vars = test::random_vars(random, 1 + random.below(3), 8, true);
    std::vector<IterDomain> domains;
    for (const Ranged& v : vars) domains.push_back({v.var, v.max + 1});
    std::vector<Expr> bindings;
    std::vector<int64_t> extents;
    for (size_t i = 1 + random.below(3); i > 0; --i) {
      // A binding often contains a loop twice, so that it rises and falls.
      const auto coefficient = [&] { return static_cast<int64_t>(random.below(7)) - 2; };
      const Expr v = vars[random.below(vars.size())].var;
      bindings.push_back(random.below(3) == 0
                             ? v * coefficient() +
                                   floordiv(v, 2 + static_cast<int64_t>(random.below(3))) * coefficient()
                             : test::random_index(random, vars, static_cast<int>(random.below(3))));
      const Interval range = test::analyzer_of(vars).bounds(bindings.back());
      extents.push_back(std::max<int64_t>(1, range.max + 1));
    }
    // The predicate often bounds a binding, as after compute_at.
    const Expr bounded = random.below(2) != 0
                             ? bindings.front()
                             : test::random_index(random, vars, static_cast<int>(random.below(4)));
    const Expr predicate =
        random.below(2) != 0 ? bool_imm(true) : lt(bounded, 1 + static_cast<int64_t>(random.below(12)));
    const Truth truth = truth_of(bindings, extents, domains, predicate);
    const IterMapCheck result = check_iter_map(bindings, extents, domains, predicate);
    injective += result.injective;
    bijective += result.bijective;
    ASSERT_TRUE(!result.injective || truth.injective) << describe(bindings, domains, predicate);
    ASSERT_TRUE(!result.bijective || truth.bijective) << describe(bindings, domains, predicate);
  }
  EXPECT_GT(injective, 200);
  EXPECT_GT(bijective, 50);
}

}  // namespace
}  // namespace tunesmith
