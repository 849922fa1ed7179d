#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

TEST(Flatten, EveryAccessHasOneSimplifiedOffset) {
  Schedule s(program_of("X: {shape: [4, 3, 5], dtype: f32}", "O[i<3, j<20] = X[j // 5, i, j % 5]"));
  s.split(s.get_loops(s.get_block("O"))[1], {IntArg{4}, IntArg{5}});
  EXPECT_EQ(text_after(Pass::Flatten, s.program()), R"(
  for i in 0..3:
    for j_0 in 0..4:
      for j_1 in 0..5:
        O[i*20 + j_0*5 + j_1] = X[i*5 + j_0*15 + j_1]
        pass
)");
}

/// O[i] = 1 under a condition, written by hand.
Program conditional(const Expr& condition, const Var& i, bool with_else) {
  Program program;
  program.name = "t";
  const Buffer o = make_buffer("O", kF32, {8});
  program.outputs = {o};
  const auto store = [&](double value) {
    return std::make_unique<Store>(o, std::vector<Expr>{i}, float_imm(value, kF32));
  };
  program.root().append(program.make_loop(
      i, 8, std::make_unique<If>(condition, store(1.0), with_else ? StmtPtr(store(2.0)) : nullptr)));
  return program;
}

TEST(Flatten, ConditionsThatAreAlwaysTrueOrFalseGo) {
  const Var i("i");
  const auto text = [&](const Expr& condition, bool with_else) {
    Program program = conditional(condition, i, with_else);
    flatten(program);
    return body_text(program);
  };
  EXPECT_EQ(text(lt(i, 8), true), "\n  for i in 0..8:\n    O[i] = 1.0\n");
  EXPECT_EQ(text(lt(i, 0), true), "\n  for i in 0..8:\n    O[i] = 2.0\n");
  EXPECT_THAT(text(lt(i, 0), false), testing::Not(testing::HasSubstr("O[")));
  EXPECT_EQ(text(lt(i, 7), false), "\n  for i in 0..8:\n    if i < 7:\n      O[i] = 1.0\n");
}

TEST(Flatten, StridesAreApplied) {
  Program program;
  program.name = "t";
  const Buffer x = make_buffer("X", kF32, {4, 3}, kScopeGlobal, false, {8, 2});
  const Buffer o = make_buffer("O", kF32, {4, 3});
  program.inputs = {x};
  program.outputs = {o};
  const Var i("i"), j("j");
  StmtPtr store = std::make_unique<Store>(o, std::vector<Expr>{i, j}, load(x, {i, j}));
  program.root().append(program.make_loop(i, 4, program.make_loop(j, 3, std::move(store))));
  flatten(program);
  EXPECT_THAT(body_text(program), testing::HasSubstr("O[i*3 + j] = X[i*8 + j*2]"));
}

}  // namespace
}  // namespace tunesmith
