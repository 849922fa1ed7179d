#include "tunesmith/affine/linear_form.h"

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>

namespace tunesmith {
namespace {

TEST(LinearForm, TheSlackOfAnOrder) {
  const Var i("i"), j("j");
  const Analyzer analyzer;
  EXPECT_EQ(to_string(slack_of(lt(i, j * 2), analyzer)->to_expr()), "j*2 - i - 1");
  EXPECT_EQ(to_string(slack_of(le(i, 7), analyzer)->to_expr()), "7 - i");
  EXPECT_FALSE(slack_of(eq(i, j), analyzer).has_value());
  const Buffer data = make_buffer("X", kI64, {4});
  EXPECT_FALSE(slack_of(lt(load(data, {0}), load(data, {1})), analyzer).has_value());  // data may wrap around
}

TEST(LinearForm, TheTermsOfAConjunction) {
  const Var i("i"), j("j");
  EXPECT_TRUE(conjuncts(bool_imm(true)).empty());
  const std::vector<Expr> terms = conjuncts(logical_and(lt(i, 3), logical_and(lt(j, 4), le(1, i))));
  ASSERT_EQ(terms.size(), 3U);
  EXPECT_EQ(to_string(terms[1]), "j < 4");
}

TEST(LinearForm, IsTakenApartByItsVariables) {
  const Var i("i"), j("j"), k("k");
  const Expr expr = i * 4 + floordiv(j, 2) * 3 + floormod(i + k, 5) + k + 9;
  LinearForm form = Analyzer().linear(expr);
  const std::vector<Var> moving{i, j};
  const LinearParts parts = parts_of(form, moving);
  EXPECT_EQ(to_string(parts.moving.to_expr()), "i*4 + j//2*3");
  EXPECT_EQ(to_string(parts.standing.to_expr()), "k + 9");
  ASSERT_EQ(parts.mixed.size(), 1U);
  EXPECT_TRUE(hides(form, i));
  EXPECT_TRUE(hides(form, j));
  EXPECT_EQ(take_term(form, i), 4);
  EXPECT_EQ(take_term(form, i), 0);
  EXPECT_EQ(take_term(form, j), 0);
  EXPECT_EQ(form.terms.size(), 3U);
}

}  // namespace
}  // namespace tunesmith
