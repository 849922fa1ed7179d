#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/lowered_stmt.h"
#include "tunesmith/ir/parser.h"
#include "unit/ir/make_gmm.h"
#include "unit/verification/run_program.h"

namespace tunesmith {
namespace {

using test::error_of;
using test::make_program;
using test::random_arguments;
using test::store;
using test::values_of;
using testing::AllOf;
using testing::HasSubstr;
using Values = std::vector<double>;

TEST(Interpreter, MatrixMultiplication) {
  constexpr int64_t n = 3, m = 5, k = 7;
  const Program program = test::make_gmm(n, m, k);
  std::vector<Tensor> arguments = random_arguments(program);
  interpret(program, arguments);
  for (int64_t i = 0; i < n; ++i) {
    for (int64_t j = 0; j < m; ++j) {
      float sum = 0;
      for (int64_t l = 0; l < k; ++l) {
        const float product =
            static_cast<float>(arguments[0].get(i * k + l)) * static_cast<float>(arguments[1].get(l * m + j));
        sum += product;
      }
      EXPECT_EQ(arguments[2].get(i * m + j), sum) << i << ", " << j;
    }
  }
}

/// gmm(4, 6, 10) with k split by 4, which does not divide it, and the parts of k around i and j.
Program split_gmm() {
  Program program = test::make_gmm(4, 6, 10);
  StmtPtr block = replace(*program.find_block("C"), std::make_unique<Seq>());
  Block* b = block->as<Block>();
  const Var i = Var::from(b->bindings[0]), j = Var::from(b->bindings[1]), ko("ko"), ki("ki");
  b->bindings[2] = ko * 4 + ki;
  b->predicate = lt(ko * 4 + ki, 10);
  StmtPtr nest = program.make_loop(ki, 4, std::move(block));
  nest = program.make_loop(j, 6, std::move(nest));
  nest = program.make_loop(i, 4, std::move(nest));
  nest = program.make_loop(ko, 3, std::move(nest));
  replace(*program.root().children()[0], std::move(nest));
  return program;
}

TEST(Interpreter, InitRunsOnceForASplitAndReorderedReduction) {
  const Program plain = test::make_gmm(4, 6, 10);
  const Program split = split_gmm();
  std::vector<Tensor> expected = random_arguments(plain), actual = random_arguments(split);
  interpret(plain, expected);
  interpret(split, actual);
  EXPECT_EQ(expected[2], actual[2]);  // k still ascends: not even rounding differs
}

TEST(Interpreter, NestedBlocks) {
  // An outer block over tiles, which has the init; an inner one within a tile.
  const Buffer x = make_buffer("X", kI32, {12}), y = make_buffer("Y", kI32, {1});
  const Var t("t"), u("u"), vt("vt"), vu("vu");
  auto inner = std::make_unique<Block>(
      BlockId{1}, "inner", std::vector<IterVar>{{vu, 12, IterKind::Reduction}}, std::vector<Expr>{vt * 4 + u},
      nullptr, store(y, {0}, load(y, {0}) + load(x, {vu})));
  auto outer = std::make_unique<Block>(
      BlockId{0}, "outer", std::vector<IterVar>{{vt, 3, IterKind::Reduction}}, std::vector<Expr>{t},
      store(y, {0}, int_imm(5, kI32)), test::loop(u, 4, std::move(inner)));
  const Program program = make_program({x}, {y}, test::loop(t, 3, std::move(outer)));
  std::vector<Tensor> arguments = random_arguments(program);
  interpret(program, arguments);
  double sum = 5;
  for (const double v : values_of(arguments[0])) sum += v;
  EXPECT_EQ(arguments[1].get(0), sum);
}

TEST(Interpreter, LoweredLoopsWithSymbolicBoundsAndBranches) {
  // Y[i, j] for j in [i, i + min(3, 6 - i)), the rest by the else branch.
  const Buffer y = make_buffer("Y", kI32, {3, 6});
  const Var i("i"), j("j"), l("l");
  auto fill = test::loop(j, 6, store(y, {i, j}, int_imm(-1, kI32)));
  auto band =
      std::make_unique<Loop>(LoopId{1}, l, i, min(3, 6 - i),
                             std::make_unique<If>(eq(floormod(l, 2), 0), store(y, {i, l}, cast(kI32, l)),
                                                  store(y, {i, l}, int_imm(9, kI32))));
  band->loop_kind = LoopKind::Unrolled;
  const Program program =
      make_program({}, {y}, test::loop(i, 3, test::seq(std::move(fill), std::move(band))));
  std::vector<Tensor> arguments = random_arguments(program);
  interpret(program, arguments);
  EXPECT_EQ(values_of(arguments[0]), (Values{0, 9, 2, -1, -1, -1, -1, 9, 2, 9, -1, -1, -1, -1, 2, 9, 4, -1}));
}

TEST(Interpreter, AVectorizedStoreReadsAllLanesBeforeItWrites) {
  const Buffer y = make_buffer("Y", kI32, {5});
  const Var i("i"), j("j");
  const auto shift = [&](LoopKind kind) {
    return make_program({}, {y},
                        test::seq(test::loop(i, 5, store(y, {i}, cast(kI32, i))),
                                  test::loop(j, 4, store(y, {j + 1}, load(y, {j})), kind)));
  };
  std::vector<Tensor> serial = random_arguments(shift(LoopKind::Serial)), vector = serial;
  interpret(shift(LoopKind::Serial), serial);
  interpret(shift(LoopKind::Vectorized), vector);
  EXPECT_EQ(values_of(serial[0]), (Values{0, 0, 0, 0, 0}));
  EXPECT_EQ(values_of(vector[0]), (Values{0, 0, 1, 2, 3}));
}

TEST(Interpreter, VectorizedLoopsRunStatementByStatement) {
  // The second store of lane 0 sees what lane 1 stored first.
  const Buffer x = make_buffer("X", kI32, {4}), y = make_buffer("Y", kI32, {4});
  const Var i("i");
  auto body = test::seq(store(x, {i}, cast(kI32, i * 10)), store(y, {i}, load(x, {floormod(i + 1, 4)})));
  const Program program = make_program({}, {x, y}, test::loop(i, 4, std::move(body), LoopKind::Vectorized));
  std::vector<Tensor> arguments = random_arguments(program);
  interpret(program, arguments);
  EXPECT_EQ(values_of(arguments[1]), (Values{10, 20, 30, 0}));
}

TEST(Interpreter, PredicatesAndBranchesAreLanesMasks) {
  const Buffer y = make_buffer("Y", kI32, {5});
  const Var i("i"), v("v");
  auto block = std::make_unique<Block>(
      BlockId{0}, "b", std::vector<IterVar>{{v, 5, IterKind::Spatial}}, std::vector<Expr>{i}, nullptr,
      std::make_unique<If>(lt(v, 2), store(y, {v}, int_imm(1, kI32)), store(y, {v}, int_imm(2, kI32))));
  block->predicate = lt(i, 5);
  const Program program = make_program({}, {y}, test::loop(i, 8, std::move(block), LoopKind::Vectorized));
  std::vector<Tensor> arguments = random_arguments(program);
  interpret(program, arguments);
  EXPECT_EQ(values_of(arguments[0]), (Values{1, 1, 2, 2, 2}));
}

TEST(Interpreter, ErrorsNameBufferIndicesStatementAndVariables) {
  const Buffer x = make_buffer("X", kF32, {4, 4}), y = make_buffer("Y", kF32, {8});
  const Var i("i");
  const Program program = make_program({x}, {y}, test::loop(i, 8, store(y, {i}, load(x, {i - 2, i}))));
  EXPECT_THAT(error_of(program), AllOf(HasSubstr("X[-2, 0] is outside its shape [4, 4]"),
                                       HasSubstr("Y[i] = X[i - 2, i]"), HasSubstr("i = 0")));
}

TEST(Interpreter, StoresAndBindingsOutOfBoundsAreErrors) {
  const Buffer y = make_buffer("Y", kI64, {4});
  const Var i("i"), v("v");
  EXPECT_THAT(error_of(make_program({}, {y}, test::loop(i, 5, store(y, {i}, i)))),
              HasSubstr("Y[4] is outside its shape [4]"));
  auto block = std::make_unique<Block>(BlockId{0}, "b", std::vector<IterVar>{{v, 4, IterKind::Spatial}},
                                       std::vector<Expr>{i}, nullptr, store(y, {floormod(v, 4)}, v));
  EXPECT_THAT(error_of(make_program({}, {y}, test::loop(i, 5, std::move(block)))),
              HasSubstr("iteration variable v of block b is 4, outside [0, 4)"));
}

TEST(Interpreter, DivisionByZeroIsAnError) {
  const Buffer y = make_buffer("Y", kI64, {4});
  const Var i("i");
  EXPECT_THAT(error_of(make_program({}, {y}, test::loop(i, 4, store(y, {i}, floordiv(8, i))))),
              HasSubstr("division by zero"));
}

TEST(Interpreter, ReadsOfUnwrittenElementsAreErrors) {
  const Buffer t = make_buffer("T", kI64, {4}), y = make_buffer("Y", kI64, {4});
  const Var i("i"), j("j");
  Program program = make_program(
      {}, {y}, test::seq(test::loop(i, 3, store(t, {i}, i)), test::loop(j, 4, store(y, {j}, load(t, {j})))));
  program.intermediates = {t};
  EXPECT_THAT(error_of(program), HasSubstr("T[3] is read before anything was written there"));
  EXPECT_EQ(error_of(program, {.check_races = true, .check_uninitialized = false}), "");
}

TEST(Interpreter, AReductionWithoutInitReadsWhatNothingWrote) {
  const Program program = test::make_gmm(2, 3, 4);
  program.find_block("C")->take_init();
  EXPECT_THAT(error_of(program), HasSubstr("C[0, 0] is read before"));
}

TEST(Interpreter, UnwrittenOutputsAreErrors) {
  const Buffer y = make_buffer("Y", kI64, {2, 3});
  const Var i("i");
  const Program program = make_program({}, {y}, test::loop(i, 3, store(y, {0, i}, i)));
  EXPECT_THAT(error_of(program), HasSubstr("output element Y[1, 0] was never written"));
}

TEST(Interpreter, AnAllocationBeginsUninitialisedEachTime) {
  const Buffer t = make_buffer("T", kI64, {1}, kScopeLocal), y = make_buffer("Y", kI64, {3});
  const Var i("i");
  const auto nest = [&](StmtPtr first) {
    return make_program(
        {}, {y},
        test::loop(i, 3,
                   std::make_unique<Allocate>(t, test::seq(std::move(first), store(y, {i}, load(t, {0}))))));
  };
  EXPECT_EQ(error_of(nest(store(t, {0}, i))), "");
  EXPECT_THAT(error_of(nest(std::make_unique<If>(eq(i, 0), store(t, {0}, i)))),
              AllOf(HasSubstr("T[0] is read before"), HasSubstr("i = 1")));
}

TEST(Interpreter, ABufferExistsOnlyInsideItsAllocation) {
  const Buffer t = make_buffer("T", kI64, {1}), y = make_buffer("Y", kI64, {1});
  const Program program = make_program(
      {}, {y}, test::seq(std::make_unique<Allocate>(t, store(t, {0}, 1)), store(y, {0}, load(t, {0}))));
  EXPECT_THAT(error_of(program), HasSubstr("T is used outside its allocation"));
}

TEST(Interpreter, MalformedProgramsAreErrors) {
  const Buffer x = make_buffer("X", kI64, {1}), y = make_buffer("Y", kI64, {1});
  EXPECT_THAT(error_of(make_program({}, {y}, store(y, {0}, load(x, {0})))), HasSubstr("X is not declared"));
  EXPECT_THAT(error_of(make_program({}, {y}, store(y, {0}, Var("n")))), HasSubstr("n is not in scope"));
  EXPECT_THAT(error_of(make_program({y}, {}, store(y, {0}, 1))),
              HasSubstr("Y[0] is written, and is an input"));
}

TEST(Interpreter, ArgumentsOfTheWrongSortAreErrorsAndOutputsStay) {
  const Program program = test::make_gmm(2, 3, 4);
  std::vector<Tensor> arguments = random_arguments(program);
  EXPECT_THROW(interpret(program, std::span(arguments).first(2)), InterpreterError);
  arguments[1] = Tensor::zeros(kF32, {4, 4});
  EXPECT_THROW(interpret(program, arguments), InterpreterError);
  arguments[1] = Tensor::zeros(kF64, {4, 3});
  EXPECT_THROW(interpret(program, arguments), InterpreterError);
  EXPECT_EQ(arguments[2], Tensor::zeros(kF32, {2, 3}));
}

class Races : public testing::Test {
 protected:
  Buffer t_ = make_buffer("T", kI64, {8}), y_ = make_buffer("Y", kI64, {8});
  Var i_{"i"}, j_{"j"};

  std::string error_of_parallel(StmtPtr body, std::vector<Buffer> intermediates = {}) {
    const Var f("f");
    StmtPtr fill = test::loop(f, 8, store(y_, {f}, f));
    Program program = make_program(
        {}, {y_}, test::seq(std::move(fill), test::loop(i_, 8, std::move(body), LoopKind::Parallel)));
    program.intermediates = std::move(intermediates);
    EXPECT_EQ(error_of(program, {.check_races = false, .check_uninitialized = true}), "");
    return error_of(program);
  }
};

TEST_F(Races, IterationsOnTheirOwnElementsAreFine) {
  EXPECT_EQ(error_of_parallel(store(y_, {7 - i_}, load(y_, {7 - i_}) + cast(kI64, i_))), "");
}

TEST_F(Races, TwoWritesOfOneElement) {
  EXPECT_THAT(error_of_parallel(store(y_, {floordiv(i_, 2)}, i_)),
              HasSubstr("iteration 0 and iteration 1 of a parallel loop write Y[0]"));
}

TEST_F(Races, AReductionOverAParallelLoop) {
  EXPECT_THAT(error_of_parallel(store(y_, {0}, load(y_, {0}) + cast(kI64, i_))),
              HasSubstr("race: iteration 1"));
}

TEST_F(Races, AReadOfWhatAnotherIterationWrites) {
  EXPECT_THAT(error_of_parallel(store(y_, {i_}, load(y_, {max(i_ - 1, 0)}))),
              HasSubstr("iteration 1 of a parallel loop reads Y[0], which iteration 0 wrote"));
  // Conversely: read first, then written by a later iteration.
  EXPECT_THAT(error_of_parallel(store(y_, {i_}, load(y_, {min(i_ + 1, 7)}))),
              HasSubstr("iteration 1 of a parallel loop writes Y[1], which another iteration reads"));
}

TEST_F(Races, AllocationsAndIntermediatesInsideTheLoopAreEachIterationsOwn) {
  const auto body = [&] { return test::seq(store(t_, {0}, i_), store(y_, {i_}, load(t_, {0}))); };
  EXPECT_EQ(error_of_parallel(std::make_unique<Allocate>(t_, body())), "");
  EXPECT_EQ(error_of_parallel(body(), {t_}), "");
}

TEST_F(Races, AnAllocationAroundTheLoopIsShared) {
  const auto inner = test::seq(store(t_, {0}, i_), store(y_, {i_}, load(t_, {0})));
  const Program program = make_program(
      {}, {y_}, std::make_unique<Allocate>(t_, test::loop(i_, 8, inner->clone(), LoopKind::Parallel)));
  EXPECT_THAT(error_of(program), HasSubstr("write T[0]"));
}

TEST_F(Races, WhatAnotherIterationLeftInAnIntermediateIsNotThere) {
  auto body = test::seq(store(t_, {i_}, i_), store(y_, {i_}, load(t_, {floordiv(i_, 2)})));
  EXPECT_THAT(error_of_parallel(std::move(body), {t_}), HasSubstr("wrote in its own copy"));
}

TEST_F(Races, InnerSerialLoopsMayAccumulate) {
  EXPECT_EQ(error_of_parallel(test::loop(j_, 4, store(y_, {i_}, load(y_, {i_}) + cast(kI64, j_)))), "");
}

TEST_F(Races, EachExecutionOfAnInnerParallelLoopIsOnItsOwn) {
  auto nest = test::loop(j_, 4, test::loop(i_, 8, store(y_, {i_}, i_ + j_), LoopKind::Parallel));
  EXPECT_EQ(error_of(make_program({}, {y_}, std::move(nest))), "");
  // Both loops parallel: two iterations of the outer write the same elements.
  nest =
      test::loop(j_, 4, test::loop(i_, 8, store(y_, {i_}, i_ + j_), LoopKind::Parallel), LoopKind::Parallel);
  EXPECT_THAT(error_of(make_program({}, {y_}, std::move(nest))), HasSubstr("write Y[0]"));
}

TEST_F(Races, TwoLanesOfOneStore) {
  auto nest = test::loop(i_, 8, store(y_, {floordiv(i_, 2)}, i_), LoopKind::Vectorized);
  EXPECT_THAT(error_of(make_program({}, {y_}, std::move(nest))), HasSubstr("two lanes write Y[0]"));
}

std::vector<double> run_at(const std::string& text, int64_t value) {
  const Program program = parse_program(text);
  std::vector<Tensor> arguments = random_arguments(program);
  InterpretOptions options;
  if (value != 0) options.parameters = {value};
  interpret(program, arguments, options);
  return values_of(arguments.back());
}

constexpr const char* kVarying =
    "program p[1 <= n <= 4](X: i32[4] extents [n]) -> (S: i32[1])\n"
    "  for i in 0..4:\n"
    "    block S(v: reduction 4 = i):\n"
    "      init:\n"
    "        S[0] = 0\n"
    "      S[0] = S[0] + select(X[v] < X[v], 0, 1)\n";

TEST(Interpreter, BlocksTouchNoElementThatDoesNotExist) {
  EXPECT_EQ(run_at(kVarying, 1), std::vector<double>{1});
  EXPECT_EQ(run_at(kVarying, 3), std::vector<double>{3});
  EXPECT_EQ(run_at(kVarying, 0), std::vector<double>{4});  // the highest
  EXPECT_THROW(run_at(kVarying, 5), InterpreterError);
}

TEST(Interpreter, AnElementThatDoesNotExistIsNoneOutsideOfBlocks) {
  const char* lowered =
      "program p[1 <= n <= 4](X: i32[4] extents [n]) -> (O: i32[4] extents [n])\n"
      "  for i in 0..4:\n"
      "    O[i] = X[i]\n";
  EXPECT_NO_THROW(run_at(lowered, 4));
  try {
    run_at(lowered, 2);
    FAIL() << "it reads X[2]";
  } catch (const InterpreterError& error) {
    EXPECT_NE(std::string(error.what()).find("does not exist for these values"), std::string::npos)
        << error.what();
  }
}

}  // namespace
}  // namespace tunesmith
