#include <gtest/gtest.h>

#include <tunesmith/affine/simplify.h>
#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/program.h>

namespace tunesmith {
namespace {

class Simplify : public ::testing::Test {
 protected:
  Simplify() {
    analyzer.bind(i, 16);
    analyzer.bind(j, 4);
    analyzer.bind(k, 8);
    analyzer.bind(unit, 1);
    analyzer.bind(shifted, Interval{-3, 5});
  }
  std::string simple(const Expr& expr) const { return to_string(analyzer.simplify(expr)); }

  // `x` has no range.
  Var i{"i"}, j{"j"}, k{"k"}, x{"x"}, unit{"u"}, shifted{"s"};
  Analyzer analyzer;
};

TEST_F(Simplify, SumsAreCollectedInTheOrderOfVariables) {
  EXPECT_EQ(simple(j + i * 4), "i*4 + j");
  EXPECT_EQ(simple(j * 2 + i + j * 3 - i), "j*5");
  EXPECT_EQ(simple((i + 1) * 4 - 4 - i * 4), "0");
  EXPECT_EQ(simple(Expr(3) - i), "3 - i");
  EXPECT_EQ(simple(i - 1 - (j + 2)), "i - j - 3");
  EXPECT_EQ(simple((i - j) * -2), "j*2 - i*2");
}

TEST_F(Simplify, SumsTimesAParameterAreMultipliedOut) {
  const Var n = Var::parameter("n", 1, 512);
  EXPECT_EQ(to_string(analyzer.simplify((i * 6 + j) * n + k)), "i*n*6 + j*n + k");
  EXPECT_EQ(to_string(analyzer.simplify((i + 1) * (n + 2) - i * n)), "i*2 + n + 2");
  EXPECT_TRUE(analyzer.can_prove_equal((i * n + j) * n, n * (n * i) + n * j));
  EXPECT_EQ(simple((i + 1) * (j + 1)), "(i + 1)*(j + 1)");
  const Interval range = analyzer.bounds(i * n + k);
  EXPECT_EQ(range.min, 0);
  EXPECT_EQ(range.max, 15 * 512 + 7);
}

TEST_F(Simplify, VariablesOfOneValueAreConstants) {
  EXPECT_EQ(simple(i * 4 + unit * 2), "i*4");
  EXPECT_EQ(simple(unit), "0");
}

TEST_F(Simplify, SharesWhatIsCanonicalAlready) {
  for (const Expr& expr : {i * 4 + j, floordiv(i * 4 + j, 6), floormod(i * 4 + j, 6) * 8 + k, Expr(3) - i,
                           lt(i * 4 + j, 10), logical_and(lt(i, 10), le(2, j)), min(i, 10), Expr(i),
                           select(lt(i * 4 + j, 10), Expr(i), j), i - j - 1}) {
    EXPECT_TRUE(analyzer.simplify(expr).same_as(expr)) << to_string(expr) << " -> " << simple(expr);
  }
}

TEST_F(Simplify, DivisionTakesOutWhatItDivides) {
  EXPECT_EQ(simple(floordiv(i * 4 + j, 4)), "i");
  EXPECT_EQ(simple(floormod(i * 4 + j, 4)), "j");
  EXPECT_EQ(simple(floordiv(x * 4 + j, 4)), "x");
  EXPECT_EQ(simple(floordiv(i * 8 + x, 4)), "i*2 + x//4");
  EXPECT_EQ(simple(floormod(i * 8 + x, 4)), "x%4");
  EXPECT_EQ(simple(floordiv(i * 4 - 1, 4)), "i - 1");
  EXPECT_EQ(simple(floormod(i * 4 - 1, 4)), "3");
  EXPECT_EQ(simple(floordiv(x + 9, 4)), "(x + 1)//4 + 2");
  // The rest need not start at 0.
  EXPECT_EQ(simple(floordiv(i * 16 + shifted + 3, 16)), "i");
  EXPECT_EQ(simple(floordiv(i * 16 + shifted, 16)), "i + s//16") << "s may be negative";
}

TEST_F(Simplify, DivisionByAMultipleOfTheScaleNarrows) {
  EXPECT_EQ(simple(floordiv(i * 4 + j, 8)), "i//2");
  EXPECT_EQ(simple(floormod(i * 4 + j, 8)), "i%2*4 + j");
  EXPECT_EQ(simple(floordiv(i * 4 + j, 12)), "i//3");
  EXPECT_EQ(simple(floordiv(x * 6, 4)), "x*3//2");
  EXPECT_EQ(simple(floormod(x * 6, 4)), "x*3%2*2");
  EXPECT_EQ(simple(floordiv(i * 4 + 6, 8)), "(i + 1)//2");
  EXPECT_EQ(simple(floordiv(i * 4 + j, 6)), "(i*4 + j)//6") << "4 and 6 share 2, but j reaches beyond it";
}

TEST_F(Simplify, DivisionWithinTheRangeIsConstant) {
  EXPECT_EQ(simple(floordiv(i, 16)), "0");
  EXPECT_EQ(simple(floormod(i, 16)), "i");
  EXPECT_EQ(simple(floormod(i + 16, 16)), "i");
  EXPECT_EQ(simple(floordiv(j - 4, 4)), "-1");
  EXPECT_EQ(simple(floormod(j - 4, 4)), "j");
  EXPECT_EQ(simple(floormod(i, 15)), "i%15");
}

TEST_F(Simplify, NestedDivisionsCombine) {
  EXPECT_EQ(simple(floordiv(floordiv(x, 4), 8)), "x//32");
  EXPECT_EQ(simple(floordiv(floordiv(x, 4) + 3, 8)), "(x + 12)//32");
  EXPECT_EQ(simple(floormod(floormod(x, 32), 8)), "x%8");
  EXPECT_EQ(simple(floormod(floormod(x, 8), 32)), "x%8");
  EXPECT_EQ(simple(floordiv(floormod(x, 32), 8)), "x//8%4");
  EXPECT_EQ(simple(floordiv(floormod(x, 8), 8)), "0");
  EXPECT_EQ(simple(floormod(floormod(x, 8) + 3, 4)), "(x + 3)%4");
  EXPECT_EQ(simple(floordiv(floordiv(x * 3 + i, 3), 2)), "(i + x*3)//6");
}

TEST_F(Simplify, SplitsPutTogetherAgainAreWhatWasSplit) {
  EXPECT_EQ(simple(floordiv(x, 4) * 4 + floormod(x, 4)), "x");
  EXPECT_EQ(simple(floormod(x, 4) * 3 + floordiv(x, 4) * 12 + i), "i + x*3");
  EXPECT_EQ(simple(floormod(floordiv(x, 4), 8) * 4 + floormod(x, 4)), "x%32");
  EXPECT_EQ(simple(floordiv(x, 32) * 32 + floormod(floordiv(x, 4), 8) * 4 + floormod(x, 4)), "x");
  EXPECT_EQ(simple(floordiv(floordiv(x, 2), 3) * 6 + floormod(floordiv(x, 2), 3) * 2 + floormod(x, 2)), "x");
  EXPECT_EQ(simple(floordiv(i * 4 + j, 6) * 6 + floormod(i * 4 + j, 6)), "i*4 + j");
  EXPECT_EQ(simple(floordiv(x + 5, 4) * 4 + floormod(x + 5, 4)), "x + 5");
  EXPECT_EQ(simple(floordiv(x, 4) * 8 + floormod(x, 4)), "x//4*8 + x%4");
}

TEST_F(Simplify, MinAndMaxAreDecidedByBounds) {
  EXPECT_EQ(simple(min(i, 20)), "i");
  EXPECT_EQ(simple(max(i, 15)), "15");
  EXPECT_EQ(simple(min(i + 2, i - 1)), "i - 1");
  EXPECT_EQ(simple(max(i + x, i + x + j)), "i + j + x");
  EXPECT_EQ(simple(min(i, 10)), "min(i, 10)");
  EXPECT_EQ(simple(min(10, i)), "min(i, 10)");
  EXPECT_EQ(simple(min(min(x, 10), 4)), "min(x, 4)");
  EXPECT_EQ(simple(max(j, i) - max(i, j)), "0");
}

TEST_F(Simplify, ComparisonsAreDecidedByBounds) {
  EXPECT_TRUE(analyzer.can_prove(lt(i * 4 + j, 64)));
  EXPECT_FALSE(analyzer.can_prove(lt(i * 4 + j, 63)));
  EXPECT_TRUE(is_const_int(analyzer.simplify(lt(i, 0)), 0));
  EXPECT_TRUE(analyzer.can_prove(le(0, i)));
  EXPECT_TRUE(analyzer.can_prove(ne(i, 16)));
  EXPECT_TRUE(is_const_int(analyzer.simplify(eq(x * 2, 5)), 0)) << "an even number is not 5";
  EXPECT_TRUE(analyzer.can_prove(le(floordiv(x, 4) * 4, x)));
  EXPECT_TRUE(analyzer.can_prove(lt(x, floordiv(x, 4) * 4 + 4)));
  EXPECT_TRUE(analyzer.can_prove(le(i * 4 + min(4, Expr(50) - i * 4), 50)));
}

TEST_F(Simplify, ComparisonsHaveOneForm) {
  EXPECT_EQ(simple(lt(i + 1, 10)), "i < 9");
  EXPECT_EQ(simple(le(i, 9)), "i < 10");
  EXPECT_EQ(simple(le(0, x - 1)), "1 <= x");
  EXPECT_EQ(simple(lt(Expr(3), x)), "4 <= x");
  EXPECT_EQ(simple(lt(x, i)), "x < i");
  EXPECT_EQ(simple(lt(x * 4 + j, 40)), "x < 10");
  EXPECT_EQ(simple(lt(x * 4, 39)), "x < 10");
  EXPECT_EQ(simple(eq(x * 2, 6)), "x == 3");
  EXPECT_EQ(simple(ne(j + 1, x)), "j + 1 != x");
  EXPECT_EQ(simple(logical_not(lt(x, 5))), "5 <= x");
  EXPECT_EQ(simple(logical_not(eq(x, 5))), "x != 5");
}

TEST_F(Simplify, ConjunctionsDropWhatIsImplied) {
  EXPECT_EQ(simple(logical_and(lt(x, 5), lt(x, 7))), "x < 5");
  EXPECT_EQ(simple(logical_or(lt(x, 5), lt(x, 7))), "x < 7");
  EXPECT_EQ(simple(logical_and(lt(x, 5), lt(i, 16))), "x < 5");
  EXPECT_EQ(simple(logical_and(lt(x, 5), le(5, x))), to_string(bool_imm(false)));
  EXPECT_EQ(simple(logical_or(lt(x, 5), le(5, x))), to_string(bool_imm(true)));
  EXPECT_EQ(simple(logical_and(lt(x, 5), logical_and(lt(i, 3), lt(x, 5)))), "x < 5 and i < 3");
}

TEST_F(Simplify, SelectFollowsItsCondition) {
  EXPECT_EQ(simple(select(lt(i, 16), i, x)), "i");
  EXPECT_EQ(simple(select(lt(x, 16), i + j, j + i)), "i + j");
  EXPECT_EQ(simple(select(lt(i, 16), i, x) + select(lt(i, 0), x, j)), "i + j");
}

TEST_F(Simplify, ReachesTheIndicesInsideOtherValues) {
  const Buffer a = make_buffer("A", kF32, {64});
  const Expr value = load(a, {floordiv(i * 4 + j, 1) + unit}) * float_imm(2.0, kF32);
  EXPECT_EQ(simple(value), to_string(load(a, {i * 4 + j}) * float_imm(2.0, kF32)));
  const Expr untouched = load(a, {i * 4 + j}) + load(a, {Expr(j)});
  EXPECT_TRUE(analyzer.simplify(untouched).same_as(untouched));
  // A float does not obey integer rules: not (a < b) is not b <= a when one is NaN.
  const Expr order = logical_not(lt(load(a, {Expr(i)}), load(a, {Expr(j)})));
  EXPECT_TRUE(analyzer.simplify(order).same_as(order));
}

TEST_F(Simplify, GatheredIndicesAreAtoms) {
  const Buffer table = make_buffer("T", kI64, {16});
  const Buffer bytes = make_buffer("B", kU8, {16});
  const Expr gathered = cast(kIndex, load(table, {Expr(i)}));
  EXPECT_EQ(simple(gathered * 2 - gathered), to_string(gathered));
  const Interval range = analyzer.bounds(cast(kIndex, load(bytes, {Expr(i)})) + 1);
  EXPECT_EQ(range.min, 1);
  EXPECT_EQ(range.max, 256);
}

// Data may wrap around, so the rules of index arithmetic do not hold for them.
TEST_F(Simplify, IntegerDataAreLeftAlone) {
  const Buffer bytes = make_buffer("B", kU8, {16});
  const Expr a = load(bytes, {Expr(i)});
  const Expr sum = a + int_imm(1, kU8) - int_imm(2, kU8);
  EXPECT_TRUE(analyzer.simplify(sum).same_as(sum));
  EXPECT_EQ(analyzer.bounds(cast(kIndex, sum)).max, 255);
  for (const DType type : {kI64, kI32, kI16, kI8, kU64, kU32, kU16, kU8}) {
    const Expr d = load(make_buffer("D", type, {16}), {Expr(i)});
    const Expr one = int_imm(1, type);
    for (const Expr& unproven : {lt(d, d + one), le(d, d + one), eq(d + one, d - one), ne(d * d, d - d),
                                 lt(cast(type, i), cast(type, i + 1))}) {
      EXPECT_TRUE(analyzer.simplify(unproven).same_as(unproven)) << to_string(unproven);
      EXPECT_FALSE(analyzer.can_prove(unproven)) << to_string(unproven);
    }
    EXPECT_FALSE(analyzer.can_prove_equal(d + one - one, d));
    EXPECT_EQ(analyzer.linear(d * int_imm(2, type) + one).terms.size(), 1u) << "an atom as a whole";
  }
  // The indices inside are not data.
  EXPECT_EQ(simple(load(bytes, {i + 1 - i + j})), to_string(load(bytes, {j + 1})));
}

TEST_F(Simplify, UnboundedAndHugeNumbersProveNothing) {
  EXPECT_FALSE(analyzer.bounds(x).bounded());
  EXPECT_FALSE(analyzer.can_prove(lt(x, Expr(int64_t{1} << 60))));
  const Expr huge = (x * (int64_t{1} << 40)) * (int64_t{1} << 40);
  EXPECT_FALSE(analyzer.bounds(i * (int64_t{1} << 61)).bounded());
  EXPECT_TRUE(analyzer.simplify(huge).same_as(huge)) << "a coefficient beyond i64 is not folded";
  EXPECT_TRUE(analyzer.bounds(min(x, 5)).max == 5);
}

TEST_F(Simplify, LinearFormTellsCoefficients) {
  const LinearForm form = analyzer.linear(floordiv(x, 4) * 8 + i * 2 - j + 5);
  EXPECT_EQ(form.constant, 5);
  EXPECT_EQ(form.coefficient_of(i), 2);
  EXPECT_EQ(form.coefficient_of(j), -1);
  EXPECT_EQ(form.coefficient_of(x), 0);
  ASSERT_EQ(form.terms.size(), 3u);
  EXPECT_EQ(to_string(form.terms[2].atom), "x//4");
  EXPECT_EQ(to_string(form.to_expr()), "i*2 + x//4*8 - j + 5");
}

TEST_F(Simplify, BindReplacesARange) {
  analyzer.bind(i, 4);
  EXPECT_EQ(analyzer.range_of(i)->max, 3);
  EXPECT_FALSE(analyzer.range_of(x).has_value());
  EXPECT_EQ(simple(floordiv(i, 4)), "0");
}

TEST(AnalyzerAt, KnowsTheLoopsAndIterationVariablesAbove) {
  Program program;
  const Buffer a = make_buffer("A", kF32, {64});
  const Var outer("outer");
  const Var inner("inner");
  const Var v("v");
  auto block = program.make_block("B", {{v, 64, IterKind::Spatial}}, {outer * 8 + inner}, nullptr,
                                  std::make_unique<Store>(a, std::vector<Expr>{Expr(v)}, float_imm(1, kF32)));
  const Stmt* store = block->body();
  const Stmt* in_loops = block.get();
  program.root().append(program.make_loop(outer, 8, program.make_loop(inner, 8, std::move(block))));

  const Analyzer at_block = Analyzer::at(*in_loops);
  EXPECT_TRUE(at_block.can_prove(lt(outer * 8 + inner, 64)));
  EXPECT_FALSE(at_block.range_of(v).has_value()) << "a block's own variables are known below it only";
  const Analyzer at_store = Analyzer::at(*store);
  EXPECT_EQ(at_store.range_of(v)->max, 63);
  EXPECT_EQ(at_store.range_of(outer)->max, 7);
}

// Lowering tightens loops to  for inner in [0, min(8, 50 - outer*8)).
TEST(AnalyzerAt, BoundsLoopsWhoseExtentsAreExpressions) {
  Program program;
  const Buffer a = make_buffer("A", kF32, {50});
  const Var outer("outer");
  const Var inner("inner");
  auto store = std::make_unique<Store>(a, std::vector<Expr>{outer * 8 + inner}, float_imm(1, kF32));
  const Stmt* at = store.get();
  auto loop =
      std::make_unique<Loop>(LoopId{7}, inner, 2, min(Expr(8), Expr(50) - outer * 8), std::move(store));
  program.root().append(program.make_loop(outer, 7, std::move(loop)));
  const Interval range = *Analyzer::at(*at).range_of(inner);
  EXPECT_EQ(range.min, 2);
  EXPECT_EQ(range.max, 9);
}

}  // namespace
}  // namespace tunesmith
