// Compares loops, branches, allocations and parallel loops, compiled and interpreted.
#include <gtest/gtest.h>

#include "lowered_program.h"

namespace tunesmith {
namespace {

using testing::error_against_interpreter;
using testing::make_allocate;
using testing::make_if;
using testing::make_loop;
using testing::make_lowered;
using testing::make_seq;
using testing::make_store;
using testing::make_target;

class Statements : public ::testing::Test {
 protected:
  double error(const LoweredProgram& lowered, int threads = 1) {
    return error_against_interpreter(*target, lowered, threads);
  }
  const std::unique_ptr<llvm_target::LlvmTarget> target = make_target();
  const Buffer in = make_buffer("in", kF32, {400}), out = make_buffer("out", kF32, {400});
  const Var i{"i"}, j{"j"}, k{"k"};
};

TEST_F(Statements, LoopsWithBoundsThatVary) {
  for (const LoopKind kind : {LoopKind::Serial, LoopKind::Unrolled}) {
    // Triangles: the first row is empty, and the clipped ones begin late.
    StmtPtr triangle =
        make_loop(i, 20, LoopKind::Serial,
                  make_loop(j, 0, i, kind, make_store(out, Expr(i) * 20 + j, load(in, {Expr(j) * 20 + i}))));
    EXPECT_EQ(error(make_lowered({in}, {out}, std::move(triangle))), 0.0);
    const Expr begin = max(0, Expr(3) - i), end = min(20, Expr(10) - i);
    StmtPtr clipped =
        make_loop(i, 20, LoopKind::Serial,
                  make_loop(j, begin, end - begin, kind,
                            make_store(out, Expr(i) * 20 + j, load(in, {Expr(i) * 20 + j - 0}))));
    EXPECT_EQ(error(make_lowered({in}, {out}, std::move(clipped))), 0.0);
  }
}

TEST_F(Statements, LoopsOfNoneAndOneIteration) {
  StmtPtr none = make_loop(i, 0, LoopKind::Serial, make_store(out, i, load(in, {Expr(i) + 1000})));
  StmtPtr one = make_loop(j, Expr(5), Expr(1), LoopKind::Parallel, make_store(out, j, load(in, {j})));
  EXPECT_EQ(error(make_lowered({in}, {out}, make_seq(std::move(none), std::move(one)))), 0.0);
}

TEST_F(Statements, Branches) {
  StmtPtr both = make_loop(
      i, 20, LoopKind::Serial,
      make_loop(
          j, 20, LoopKind::Serial,
          make_if(lt(floormod(i * j, 7), 3), make_store(out, Expr(i) * 20 + j, load(in, {Expr(j) * 20 + i})),
                  make_if(le(i, j), make_store(out, Expr(i) * 20 + j, float_imm(2.0, kF32))))));
  EXPECT_EQ(error(make_lowered({in}, {out}, std::move(both))), 0.0);
  // A value computed in one branch must not be used in the other, or after both.
  const Expr index = floordiv(i * j, 3);
  StmtPtr shared = make_loop(
      i, 20, LoopKind::Serial,
      make_loop(
          j, 20, LoopKind::Serial,
          make_seq(make_if(lt(i, j), make_store(out, Expr(i) * 20 + j, load(in, {index})),
                           make_store(out, Expr(i) * 20 + j, load(in, {index + 1}))),
                   make_store(out, Expr(i) * 20 + j, load(out, {Expr(i) * 20 + j}) + load(in, {index})))));
  EXPECT_EQ(error(make_lowered({in}, {out}, std::move(shared))), 0.0);
}

TEST_F(Statements, ABranchThatChangesItsOwnCondition) {
  StmtPtr body =
      make_loop(i, 400, LoopKind::Serial,
                make_if(lt(load(out, {i}), float_imm(0.5, kF32)), make_store(out, i, float_imm(1.0, kF32)),
                        make_store(out, i, float_imm(3.0, kF32))));
  EXPECT_EQ(error(make_lowered({in}, {out}, std::move(body))), 0.0);
}

TEST_F(Statements, ConditionsThatUnrollingDecides) {
  StmtPtr body = make_loop(i, 20, LoopKind::Serial,
                           make_loop(j, 20, LoopKind::Unrolled,
                                     make_if(lt(floormod(j, 3), 1),
                                             make_store(out, Expr(i) * 20 + j, load(in, {Expr(i) * 20 + j})),
                                             make_store(out, Expr(i) * 20 + j, float_imm(0.0, kF32)))));
  const LoweredProgram lowered = make_lowered({in}, {out}, std::move(body));
  EXPECT_EQ(error(lowered), 0.0);
  EXPECT_EQ(target->ir(lowered, "kernel").find("select"), std::string::npos);
}

TEST_F(Statements, ParallelLoops) {
  for (const int threads : {1, 2, 5}) {
    const Expr at = Expr(i) * 20 + j;
    StmtPtr simple = make_loop(
        i, 20, LoopKind::Parallel,
        make_loop(j, 20, LoopKind::Serial, make_store(out, at, load(in, {at}) + load(in, {Expr(j)}))));
    EXPECT_EQ(error(make_lowered({in}, {out}, std::move(simple)), threads), 0.0);
    // Variables of the loops around are captured; a nested parallel loop runs serially.
    StmtPtr nested =
        make_loop(k, 3, LoopKind::Serial,
                  make_loop(i, Expr(k), Expr(17), LoopKind::Parallel,
                            make_loop(j, 20, LoopKind::Parallel,
                                      make_store(out, at, load(in, {at}) + cast(kF32, Expr(k) * 2)))));
    EXPECT_EQ(error(make_lowered({in}, {out}, std::move(nested)), threads), 0.0);
    StmtPtr unrolled = make_loop(k, 3, LoopKind::Unrolled,
                                 make_loop(i, 100, LoopKind::Parallel,
                                           make_store(out, Expr(k) * 100 + i, load(in, {Expr(i) * 3 + k}))));
    EXPECT_EQ(error(make_lowered({in}, {out}, std::move(unrolled)), threads), 0.0);
  }
}

TEST_F(Statements, AParallelLoopWithoutIterationsInSomeRounds) {
  StmtPtr body = make_loop(k, 5, LoopKind::Serial,
                           make_loop(i, Expr(0), Expr(k) * 3, LoopKind::Parallel,
                                     make_store(out, Expr(k) * 20 + i, load(in, {i}))));
  EXPECT_EQ(error(make_lowered({in}, {out}, std::move(body)), 2), 0.0);
}

TEST_F(Statements, AStoreDoesNotMakeTheLoopReadOtherBuffersAgain) {
  for (const LoopKind kind : {LoopKind::Serial, LoopKind::Parallel}) {
    StmtPtr body = make_loop(
        i, 20, kind, make_loop(j, 20, LoopKind::Serial, make_store(out, Expr(i) * 20 + j, load(in, {i}))));
    const std::string ir = target->ir(make_lowered({in}, {out}, std::move(body)), "kernel");
    const size_t store = ir.find("store float");
    ASSERT_NE(store, std::string::npos) << ir;
    const std::string block = ir.substr(ir.rfind("\n\n", store), store - ir.rfind("\n\n", store));
    EXPECT_EQ(block.find("load float"), std::string::npos) << ir;
    EXPECT_NE(ir.find("load float"), std::string::npos) << ir;
  }
}

TEST_F(Statements, AnInnermostLoopCountsItsAddresses) {
  // A loop of one iteration is none, so addresses around it are also incremented, not multiplied.
  StmtPtr body =
      make_loop(k, Expr(3), Expr(17), LoopKind::Serial,
                make_loop(i, 1, LoopKind::Serial, make_store(out, Expr(k) * 7 + i, load(in, {k}))));
  const LoweredProgram lowered = make_lowered({in}, {out}, std::move(body));
  EXPECT_EQ(target->ir(lowered, "kernel").find(" mul "), std::string::npos) << target->ir(lowered, "kernel");
  EXPECT_EQ(error(lowered), 0.0);
}

TEST_F(Statements, StackBuffersOfAThread) {
  const Buffer row = make_buffer("row", kF32, {20}, kScopeLocal);
  const Var j2("j2");
  StmtPtr body = make_loop(
      i, 20, LoopKind::Parallel,
      make_allocate(
          row, make_seq(make_loop(j, 20, LoopKind::Serial,
                                  make_store(row, j, load(in, {Expr(i) * 20 + j}) * float_imm(3.0, kF32))),
                        make_loop(j2, 20, LoopKind::Serial,
                                  make_store(out, Expr(i) * 20 + j2, load(row, {Expr(19) - j2}))))));
  EXPECT_EQ(error(make_lowered({in}, {out}, std::move(body)), 2), 0.0);
}

TEST_F(Statements, WorkspaceAndStackBuffersSharedByThreads) {
  for (const bool in_workspace : {false, true}) {
    const Buffer whole = make_buffer("whole", kF32, {400}), other = make_buffer("other", kF32, {20});
    const Var i2("i2");
    StmtPtr fill =
        make_loop(i, 400, LoopKind::Parallel, make_store(whole, i, load(in, {i}) + float_imm(1.0, kF32)));
    StmtPtr few = make_loop(j, 20, LoopKind::Serial, make_store(other, j, load(whole, {Expr(j) * 20})));
    StmtPtr use =
        make_loop(i2, 400, LoopKind::Parallel,
                  make_store(out, i2, load(whole, {Expr(399) - i2}) + load(other, {floormod(i2, 20)})));
    LoweredProgram lowered = make_lowered(
        {in}, {out},
        make_allocate(whole,
                      make_allocate(other, make_seq(std::move(fill), std::move(few), std::move(use)))));
    if (in_workspace) {
      lowered.workspace = {{whole, 0}, {other, 1600}};
      lowered.workspace_bytes = 1728;
    }
    EXPECT_EQ(error(lowered, 2), 0.0);
  }
}

TEST_F(Statements, ARegisterBufferInEachRoundOfAnUnrolledLoop) {
  const Buffer sum = make_buffer("sum", kF32, {4}, kScopeRegister);
  const Expr lanes = ramp(0, 1, 4);
  StmtPtr add = make_loop(
      k, 10, LoopKind::Serial,
      make_store(sum, lanes, load(sum, {lanes}) + load(in, {ramp(Expr(i) * 40 + Expr(k) * 4, 1, 4)})));
  StmtPtr body = make_loop(
      i, 3, LoopKind::Unrolled,
      make_allocate(sum, make_seq(make_store(sum, lanes, float_imm(0.0, kF32.with_lanes(4))), std::move(add),
                                  make_store(out, ramp(Expr(i) * 4, 1, 4), load(sum, {lanes})))));
  EXPECT_EQ(error(make_lowered({in}, {out}, std::move(body))), 0.0);
}

TEST_F(Statements, ARegisterBufferThatCannotStayInRegistersIsRefused) {
  const Buffer sum = make_buffer("sum", kF32, {32}, kScopeRegister);
  StmtPtr body = make_allocate(sum, make_loop(i, 32, LoopKind::Serial,
                                              make_seq(make_store(sum, i, load(in, {i})),
                                                       make_store(out, i, load(sum, {Expr(31) - i})))));
  const auto compiled = target->compile(make_lowered({in}, {out}, std::move(body)), "kernel");
  ASSERT_FALSE(compiled);
  EXPECT_EQ(compiled.error(), "register buffer sum stayed in memory");
}

TEST_F(Statements, WhatWasNotLoweredIsRefused) {
  const auto vectorized = target->compile(
      make_lowered({in}, {out}, make_loop(i, 8, LoopKind::Vectorized, make_store(out, i, load(in, {i})))),
      "kernel");
  ASSERT_FALSE(vectorized);
  EXPECT_EQ(vectorized.error(), "a vectorized loop was not lowered");
  const auto unknown = target->compile(make_lowered({}, {out}, make_store(out, 0, load(in, {0}))), "kernel");
  ASSERT_FALSE(unknown);
  EXPECT_EQ(unknown.error(), "buffer in is used outside its lifetime");
}

}  // namespace
}  // namespace tunesmith
