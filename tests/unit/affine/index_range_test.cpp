// Checks proofs that an index stays in its range at every point of small ranges.
#include "affine/index_range.h"

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>

#include "unit/affine/brute_force.h"

namespace tunesmith {
namespace {

struct Loops {
  std::vector<IterDomain> ranges;
  Expr operator()(const char* name, int64_t extent) {
    ranges.push_back({Var(name), extent});
    return ranges.back().var;
  }
};

TEST(IndexRange, APredicateThatIsTheIndexProvesIt) {
  Loops loop;
  const Expr index = loop("i_0", 5) * 28 + loop("i_1", 2) * 14 + loop("i_2", 14);
  EXPECT_FALSE(proves_inside(index, 128, loop.ranges, bool_imm(true)));
  EXPECT_TRUE(proves_inside(index, 128, loop.ranges, lt(index, int_imm(128))));
  EXPECT_FALSE(proves_inside(index, 127, loop.ranges, lt(index, int_imm(128))));
}

TEST(IndexRange, APredicateDividedByACommonFactorProvesIt) {
  Loops loop;
  const Expr outer = loop("c_0", 2);
  const Expr inner = loop("c_1", 24);
  const Expr index = outer * 48 + inner * 2 + loop("c_2", 2);
  const Expr masked = lt(outer * 24 + inner, int_imm(32));
  EXPECT_TRUE(proves_inside(index, 64, loop.ranges, masked));
  EXPECT_TRUE(proves_inside(index, 64, loop.ranges, logical_and(lt(loop("i", 9), int_imm(4)), masked)));
  EXPECT_FALSE(proves_inside(index, 63, loop.ranges, masked));
}

TEST(IndexRange, ALowerBoundIsProvenAlike) {
  Loops loop;
  const Expr index = loop("h", 16) + loop("r", 3) - 1;
  EXPECT_FALSE(proves_inside(index, 17, loop.ranges, bool_imm(true)));
  EXPECT_TRUE(proves_inside(index, 17, loop.ranges, le(int_imm(1), loop.ranges[0].var + loop.ranges[1].var)));
}

TEST(IndexRange, WhatIsProvenHoldsAtEveryPoint) {
  RandomStream random(411);
  int proven = 0;
  for (int i = 0; i < 6000; ++i) {
    const auto vars = test::random_vars(random, 1 + random.below(3), 8, true);
    std::vector<IterDomain> ranges;
    for (const test::Ranged& var : vars) ranges.push_back({var.var, var.max + 1});
    const Expr index = test::random_index(random, vars, 1 + static_cast<int>(random.below(2)));
    const Expr limit = int_imm(static_cast<int64_t>(1 + random.below(20)));
    Expr predicate = test::random_condition(random, vars, static_cast<int>(random.below(3)));
    if (random.below(2) == 0) predicate = logical_and(lt(index, limit), predicate);
    const auto extent = static_cast<int64_t>(1 + random.below(20));
    if (!proves_inside(index, extent, ranges, predicate)) continue;
    ++proven;
    test::for_each_point(vars, [&](const test::Point& point) {
      if (test::evaluate(predicate, vars, point) == 0) return;
      const int64_t value = test::evaluate(index, vars, point);
      ASSERT_TRUE(value >= 0 && value < extent)
          << to_string(index) << " = " << value << " of " << extent << " where " << to_string(predicate);
    });
    ASSERT_FALSE(HasFatalFailure()) << "case " << i;
  }
  EXPECT_GT(proven, 500);
}

}  // namespace
}  // namespace tunesmith
