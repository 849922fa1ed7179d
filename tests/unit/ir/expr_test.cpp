#include <cmath>
#include <limits>
#include <thread>

#include <gtest/gtest.h>

#include <tunesmith/ir/expr.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/support/error.h>

namespace tunesmith {
namespace {

int64_t value_of(const Expr& expr) {
  int64_t value = 0;
  EXPECT_TRUE(as_const_int(expr, &value)) << to_string(expr);
  return value;
}

double float_of(const Expr& expr) {
  const auto* imm = expr.as<FloatImm>();
  EXPECT_NE(imm, nullptr) << to_string(expr);
  return imm ? imm->value : 0;
}

TEST(ExprFold, FloorDivisionRoundsTowardsMinusInfinity) {
  EXPECT_EQ(value_of(floordiv(-7, 2)), -4);
  EXPECT_EQ(value_of(floormod(-7, 2)), 1);
  EXPECT_EQ(value_of(floordiv(7, -2)), -4);
  EXPECT_EQ(value_of(floormod(7, -2)), -1);
  EXPECT_EQ(value_of(div(-7, 2)), -3);
}

TEST(ExprFold, OverflowWraps) {
  const int64_t largest = std::numeric_limits<int64_t>::max();
  const int64_t smallest = std::numeric_limits<int64_t>::min();
  EXPECT_EQ(value_of(Expr(largest) + 1), smallest);
  EXPECT_EQ(value_of(div(smallest, -1)), smallest);
  EXPECT_EQ(value_of(floormod(smallest, -1)), 0);
  EXPECT_EQ(value_of(int_imm(127, kI8) + int_imm(1, kI8)), -128);
  EXPECT_EQ(value_of(int_imm(3, kU8) - int_imm(5, kU8)), 254);
}

TEST(ExprFold, DivisionByZeroStays) {
  EXPECT_TRUE(floordiv(1, 0).is(ExprKind::FloorDiv));
  EXPECT_TRUE(floormod(1, 0).is(ExprKind::FloorMod));
  EXPECT_TRUE(div(0, 0).is(ExprKind::Div));
}

TEST(ExprFold, NeutralElementsOfIntegersVanish) {
  const Var x("x");
  const Expr e = x;
  for (const Expr& same : {x + 0, 0 + e, x - 0, x * 1, 1 * e, floordiv(x, 1), div(x, 1)}) {
    EXPECT_TRUE(same.same_as(e)) << to_string(same);
  }
  for (const Expr& zero : {x * 0, 0 * e, floormod(x, 1), floordiv(0, 8)}) EXPECT_EQ(value_of(zero), 0);
  EXPECT_EQ(to_string(3 + e), "x + 3");
  EXPECT_EQ(to_string(3 * e), "x*3");
}

TEST(ExprFold, FloatsFoldOnlyWhatIsExact) {
  const Buffer buffer = make_buffer("X", kF32, {4});
  const Expr x = load(buffer, {0});
  EXPECT_TRUE((x * float_imm(1, kF32)).same_as(x));
  EXPECT_TRUE((x - float_imm(0, kF32)).same_as(x));
  EXPECT_TRUE((x + float_imm(0, kF32)).is(ExprKind::Add));  // -0.0 + 0.0 is 0.0
  EXPECT_TRUE((x * float_imm(0, kF32)).is(ExprKind::Mul));  // NaN * 0.0 is NaN
  EXPECT_EQ(float_of(float_imm(0.1, kF32)), static_cast<double>(0.1F));
  EXPECT_EQ(float_of(float_imm(16777216, kF32) + float_imm(1, kF32)), 16777216.0);
  EXPECT_EQ(float_of(float_imm(1, kF32) * float_imm(0.1, kF32)), static_cast<double>(0.1F));
  EXPECT_EQ(float_of(div(float_imm(1, kF32), float_imm(3, kF32))), static_cast<double>(1.0F / 3.0F));
}

TEST(ExprFold, Conditions) {
  const Var x("x");
  const Expr c = lt(x, 3);
  EXPECT_TRUE(logical_and(c, bool_imm(true)).same_as(c));
  EXPECT_EQ(value_of(logical_and(bool_imm(false), c)), 0);
  EXPECT_TRUE(logical_or(bool_imm(false), c).same_as(c));
  EXPECT_EQ(value_of(logical_or(c, bool_imm(true))), 1);
  EXPECT_TRUE(logical_not(logical_not(c)).same_as(c));
  EXPECT_EQ(value_of(le(2, 2)), 1);
  EXPECT_EQ(value_of(ne(2, 2)), 0);
  const double nan = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(value_of(eq(float_imm(nan, kF32), float_imm(nan, kF32))), 0);
  EXPECT_EQ(value_of(ne(float_imm(nan, kF32), float_imm(nan, kF32))), 1);
}

TEST(ExprFold, SelectAndCast) {
  const Var x("x");
  const Expr e = x;
  EXPECT_TRUE(select(bool_imm(true), e, 2).same_as(e));
  EXPECT_EQ(value_of(select(bool_imm(false), e, 2)), 2);
  EXPECT_TRUE(cast(kIndex, e).same_as(e));
  EXPECT_EQ(value_of(cast(kI8, int_imm(200, kI32))), -56);
  EXPECT_EQ(value_of(cast(kI32, float_imm(-2.7, kF32))), -2);
  EXPECT_EQ(value_of(cast(kU8, float_imm(300, kF32))), 255);
  EXPECT_EQ(value_of(cast(kBool, float_imm(0.5, kF32))), 1);
  EXPECT_EQ(float_of(cast(kF16, int_imm(2049, kI32))), 2048.0);
}

TEST(ExprTypes, UnequalOperandsAreRefused) {
  const Var x("x");
  EXPECT_THROW(x + int_imm(1, kI32), InternalError);
  EXPECT_THROW(bool_imm(true) + bool_imm(true), InternalError);
  EXPECT_THROW(logical_and(x, bool_imm(true)), InternalError);
  EXPECT_THROW(floordiv(float_imm(1, kF32), float_imm(1, kF32)), InternalError);
  EXPECT_THROW(call(MathOp::Exp, {x}), InternalError);
  EXPECT_THROW(load(make_buffer("X", kF32, {4, 4}), {x, x, x}), InternalError);
}

TEST(ExprTypes, AnIndexMeetsDataInACastOnly) {
  const Var x("x");
  const Buffer table = make_buffer("T", kI64, {8});
  const Expr data = load(table, {x});
  EXPECT_EQ(Expr(x).dtype(), kIndex);
  EXPECT_THROW(data + x, InternalError);
  EXPECT_THROW(data + 1, InternalError);
  EXPECT_THROW(load(table, {data}), InternalError);
  EXPECT_THROW(ramp(data, data, 4), InternalError);
  EXPECT_THROW(make_buffer("X", kIndex, {8}), InternalError);
  EXPECT_THROW(Store(table, {x}, x), InternalError);
  EXPECT_THROW(Store(table, {data}, data), InternalError);
  EXPECT_EQ(to_string(load(table, {cast(kIndex, data)}) + cast(kI64, x)), "T[index(T[x])] + i64(x)");
  EXPECT_EQ(value_of(cast(kI64, Expr(7))), 7);
  EXPECT_EQ(value_of(cast(kIndex, int_imm(-7, kI8))), -7);
}

TEST(ExprFold, IntegerDataWrapAround) {
  EXPECT_EQ(value_of(int_imm(127, kI8) + int_imm(1, kI8)), -128);
  EXPECT_EQ(value_of(int_imm(0, kU8) - int_imm(1, kU8)), 255);
  EXPECT_EQ(value_of(-int_imm(1, kU8)), 255);
  EXPECT_EQ(value_of(int_imm(1 << 20, kI32) * int_imm(1 << 11, kI32)), INT32_MIN);
  EXPECT_EQ(value_of(int_imm(INT64_MAX, kI64) + int_imm(1, kI64)), INT64_MIN);
  EXPECT_EQ(value_of(lt(int_imm(INT64_MAX, kI64), int_imm(INT64_MAX, kI64) + int_imm(1, kI64))), 0);
  EXPECT_EQ(value_of(floordiv(int_imm(INT64_MIN, kI64), int_imm(-1, kI64))), INT64_MIN);
  EXPECT_EQ(value_of(floordiv(int_imm(INT64_MIN, kI64), int_imm(3, kI64))), INT64_MIN / 3 - 1);
  EXPECT_EQ(value_of(floormod(int_imm(INT64_MIN, kI64), int_imm(3, kI64))), 1);
}

TEST(ExprLanes, ScalarsAreBroadcastToVectors) {
  const Var x("x");
  const Buffer buffer = make_buffer("X", kF32, {64, 64});
  const Expr index = ramp(x, 1, 8);
  EXPECT_EQ(index.dtype(), kIndex.with_lanes(8));
  const Expr loaded = load(buffer, {x, index});
  EXPECT_EQ(loaded.dtype(), kF32.with_lanes(8));
  EXPECT_EQ(loaded.arg(0).dtype().lanes, 8);
  const Expr sum = loaded + load(buffer, {x, x});
  EXPECT_EQ(sum.dtype(), kF32.with_lanes(8));
  EXPECT_EQ(to_string(sum), "X[broadcast(x, 8), ramp(x, 1, 8)] + broadcast(X[x, x], 8)");
  EXPECT_EQ(lt(index, 5).dtype(), kBool.with_lanes(8));
  EXPECT_THROW(index + ramp(x, 1, 4), InternalError);
}

TEST(ExprLanes, ArithmeticOnRampsGivesRamps) {
  const Var x("x"), y("y");
  EXPECT_EQ(to_string(y * 8 + ramp(x, 1, 4)), "ramp(y*8 + x, 1, 4)");
  EXPECT_EQ(to_string(ramp(x, 2, 4) * 3), "ramp(x*3, 6, 4)");
  EXPECT_EQ(to_string(y - ramp(x, 1, 4)), "ramp(y - x, -1, 4)");
  EXPECT_TRUE(ramp(x, 0, 4).is(ExprKind::Broadcast));
  EXPECT_TRUE(ramp(x, 1, 1).same_as(x));
}

TEST(ExprLanes, ConstantMasksVanish) {
  const Buffer buffer = make_buffer("X", kF32, {8});
  const Var x("x");
  EXPECT_FALSE(load(buffer, {x}, bool_imm(true)).as<LoadNode>()->mask());
  EXPECT_EQ(float_of(load(buffer, {x}, bool_imm(false))), 0.0);
  const Expr masked = load(buffer, {x}, lt(ramp(x, 1, 4), 8));
  EXPECT_EQ(masked.dtype().lanes, 4);
  EXPECT_EQ(masked.as<LoadNode>()->mask().dtype().lanes, 4);
}

TEST(ExprLook, EqualityIsStructuralWithVariablesByIdentity) {
  const Var x("x"), other("x");
  EXPECT_TRUE(equal(x * 2 + 1, x * 2 + 1));
  EXPECT_FALSE(equal(x * 2 + 1, other * 2 + 1));
  EXPECT_FALSE(equal(x * 2, x + 2));
  EXPECT_FALSE(equal(float_imm(0.0, kF32), float_imm(-0.0, kF32)));
  EXPECT_FALSE(equal(int_imm(1, kI64), int_imm(1, kI32)));
  EXPECT_FALSE(equal(int_imm(1, kI64), int_imm(1, kIndex)));
  const Buffer a = make_buffer("A", kF32, {8}), b = make_buffer("A", kF32, {8});
  EXPECT_TRUE(equal(load(a, {x}), load(a, {x})));
  EXPECT_FALSE(equal(load(a, {x}), load(b, {x})));
  EXPECT_FALSE(equal(load(a, {x}), load(a, {x}, lt(x, 8))));
  EXPECT_FALSE(equal(call(MathOp::Exp, {load(a, {x})}), call(MathOp::Log, {load(a, {x})})));
}

TEST(ExprLook, VariablesInOrderOfAppearance) {
  const Var x("x"), y("y");
  const auto vars = vars_of(y * 2 + x + y);
  ASSERT_EQ(vars.size(), 2u);
  EXPECT_TRUE(vars[0] == y);
  EXPECT_TRUE(vars[1] == x);
  EXPECT_TRUE(uses_var(y + x, x));
  EXPECT_FALSE(uses_var(y + 1, x));
}

TEST(ExprLook, LaterVariablesAreGreaterWhoeverMadeThem) {
  const Var before("x");
  Var elsewhere;
  std::thread([&] { elsewhere = Var("y"); }).join();
  const Var after("z");
  EXPECT_TRUE(before < elsewhere);
  EXPECT_TRUE(elsewhere < after);
}

TEST(ExprRewrite, SubstitutionFoldsAndSharesWhatStays) {
  const Var x("x"), y("y"), z("z");
  const Expr untouched = y * 7;
  const Expr e = floordiv(x, 4) + untouched;
  const Expr result = substitute(e, {{x, 9}});
  EXPECT_EQ(to_string(result), "y*7 + 2");
  EXPECT_TRUE(result.arg(0).same_as(untouched));
  EXPECT_TRUE(substitute(e, {{z, 9}}).same_as(e));
  // All at once, not one after the other.
  EXPECT_EQ(to_string(substitute(x - y, {{x, y}, {y, x}})), "y - x");
}

TEST(ExprRewrite, RewritingGoesBottomUp) {
  const Var x("x");
  const Expr doubled = rewrite_expr(x * x, [&](const Expr& e) { return e.is(ExprKind::Var) ? e + 1 : e; });
  EXPECT_EQ(to_string(doubled), "(x + 1)*(x + 1)");
  const Buffer a = make_buffer("A", kF32, {8}), b = make_buffer("B", kF32, {8});
  const Expr masked = load(a, {x}, lt(x, 5)) + load(b, {x});
  Store store(b, {x}, masked);
  replace_buffer_in(store, a, b);
  EXPECT_EQ(to_string(store.value), "(B[x] if x < 5) + B[x]");
}

TEST(ExprRewrite, WhatANodeFoldsToIsRewrittenOnce) {
  const Var x("x"), y("y");
  const Buffer a = make_buffer("A", kI64, {8});
  const auto shift = [&](const Expr& e) -> Expr {
    if (e.same_as(y)) return 1;
    const auto* access = e.as<LoadNode>();
    return access ? load(access->buffer, {access->indices()[0] + 2}) : e;
  };
  EXPECT_EQ(to_string(rewrite_expr(cast(kIndex, load(a, {x})) * y, shift)), "index(A[x + 2])");
  EXPECT_EQ(to_string(rewrite_expr(select(lt(0, y), load(a, {x}), int_imm(5, kI64)), shift)), "A[x + 2]");
  EXPECT_EQ(to_string(rewrite_expr((cast(kIndex, load(a, {x})) + x) * y,
                                   [&](const Expr& e) -> Expr {
                                     if (e.same_as(y)) return 1;
                                     return e.is(ExprKind::Add) ? e + 7 : e;
                                   })),
            "index(A[x]) + x + 7");
}

}  // namespace
}  // namespace tunesmith
