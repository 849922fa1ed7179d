#include <limits>

#include <gtest/gtest.h>

#include <tunesmith/ir/lowered_stmt.h>
#include <tunesmith/ir/printer.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

TEST(Printer, MatrixMultiplication) {
  Program program = test::make_gmm(512, 256, 128);
  program.intermediates.push_back(make_buffer("C_local", kF32, {8, 8}, kScopeLocal));
  program.annotations["unroll_max_step"] = int64_t{16};
  program.annotations["ratio"] = 0.5;
  Block* block = program.find_block("C");
  Loop* outer = loops_above(*block)[0];
  outer->loop_kind = LoopKind::Parallel;
  block->predicate = lt(outer->var, 500);
  EXPECT_EQ(to_string(program),
            "program gmm(A: f32[512, 128], B: f32[128, 256]) -> (C: f32[512, 256])\n"
            "  intermediate C_local: f32[8, 8] local\n"
            "  annotate ratio = 0.5\n"
            "  annotate unroll_max_step = 16\n"
            "  for i in 0..512 parallel:\n"
            "    for j in 0..256:\n"
            "      for k in 0..128:\n"
            "        block C(vi: spatial 512 = i, vj: spatial 256 = j, vk: reduction 128 = k):\n"
            "          where i < 500\n"
            "          init:\n"
            "            C[vi, vj] = 0.0\n"
            "          C[vi, vj] = C[vi, vj] + A[vi, vk]*B[vk, vj]\n");
}

TEST(Printer, MarksTheFirstLineOfAStatement) {
  const Program program = test::make_gmm(2, 3, 4);
  const Loop* j = loops_above(*program.find_block("C"))[1];
  const std::string text = to_string(program, j);
  EXPECT_NE(text.find("    for j in 0..3:\n"
                      "    ^^^^^^^^^^^^^^\n"
                      "      for k in 0..4:\n"),
            std::string::npos)
      << text;
  EXPECT_EQ(text.find("^\n"), text.rfind("^\n"));
  // A Seq has no line of its own: its first statement is marked.
  EXPECT_NE(to_string(program, &program.root()).find("  for i in 0..2:\n  ^^^^^^^^^^^^^^\n"),
            std::string::npos);
}

TEST(Printer, VariablesOfOneNameGetSuffixes) {
  const Buffer x = make_buffer("X", kI64, {64});
  const Var outer("i"), inner("i"), later("i"), named("i_1");
  auto body = std::make_unique<Store>(x, std::vector<Expr>{outer + inner + named}, int_imm(0, kI64));
  StmtPtr nest = std::make_unique<Loop>(LoopId{2}, named, 0, 2, std::move(body));
  nest = std::make_unique<Loop>(LoopId{1}, inner, 0, outer, std::move(nest));
  Seq seq;
  seq.append(std::make_unique<Loop>(LoopId{0}, outer, 0, 4, std::move(nest)));
  seq.append(std::make_unique<Loop>(LoopId{3}, later, 0, 4,
                                    std::make_unique<Store>(x, std::vector<Expr>{later}, int_imm(0, kI64))));
  EXPECT_EQ(to_string(seq),
            "for i in 0..4:\n"
            "  for i_1 in 0..i:\n"
            "    for i_1_1 in 0..2:\n"
            "      X[i + i_1 + i_1_1] = 0\n"
            "for i in 0..4:\n"
            "  X[i] = 0\n");
}

/// The order in which a compiler evaluates arguments must not matter.
TEST(Printer, WhatIsPrintedFirstHasTheNameWithoutSuffix) {
  const Var i("i"), stride("i");
  const Buffer outer = make_buffer("A", kF32, {8}), inner = make_buffer("A", kI64, {8});
  const Expr loaded = load(outer, {cast(kIndex, load(inner, {i}))});
  EXPECT_EQ(to_string(loaded), "A[index(A_1[i])]");
  EXPECT_EQ(to_string(Store(outer, {i}, load(make_buffer("A", kF32, {8}), {stride}))), "A[i] = A_1[i_1]\n");
  EXPECT_EQ(to_string(ramp(i, stride, 4)), "ramp(i, i_1, 4)");
  auto body = std::make_unique<Store>(outer, std::vector<Expr>{i}, float_imm(0.0, kF32));
  EXPECT_EQ(to_string(Loop(LoopId{0}, i, Var("n"), Var("n"), std::move(body))),
            "for i in n..+n_1:\n  A[i] = 0.0\n");
}

TEST(Printer, ABlocksBindingsAreOutsideItsScope) {
  const Buffer x = make_buffer("X", kI64, {64});
  const Var loop_i("i"), block_i("i");
  Loop loop(
      LoopId{0}, loop_i, 0, 4,
      std::make_unique<Block>(BlockId{0}, "b", std::vector<IterVar>{{block_i, 8, IterKind::Spatial}},
                              std::vector<Expr>{loop_i * 2}, nullptr,
                              std::make_unique<Store>(x, std::vector<Expr>{block_i}, int_imm(0, kI64))));
  EXPECT_EQ(to_string(loop),
            "for i in 0..4:\n"
            "  block b(i_1: spatial 8 = i*2):\n"
            "    X[i_1] = 0\n");
}

TEST(Printer, ParenthesesOnlyWhereNeeded) {
  const Var a("a"), b("b"), c("c");
  EXPECT_EQ(to_string(a + b - c), "a + b - c");
  EXPECT_EQ(to_string(a + (b - c)), "a + (b - c)");
  EXPECT_EQ(to_string((a + b) * c), "(a + b)*c");
  EXPECT_EQ(to_string(floormod(floordiv(a, 4), 8) * 2), "a//4%8*2");
  EXPECT_EQ(to_string(a * floordiv(b, 2)), "a*(b//2)");
  EXPECT_EQ(to_string(floordiv(a + b, 4)), "(a + b)//4");
  EXPECT_EQ(to_string(a + -3), "a + -3");
  EXPECT_EQ(to_string(a - 3), "a - 3");
  EXPECT_EQ(to_string(-a), "a*-1");
  EXPECT_EQ(to_string(logical_or(logical_and(lt(a, b), le(b, c)), eq(a, c))), "a < b and b <= c or a == c");
  EXPECT_EQ(to_string(logical_and(lt(a, b), logical_or(le(b, c), ne(a, c)))), "a < b and (b <= c or a != c)");
  EXPECT_EQ(to_string(logical_not(logical_and(lt(a, b), lt(b, c)))), "not (a < b and b < c)");
  EXPECT_EQ(to_string(eq(lt(a, b), lt(b, c))), "(a < b) == (b < c)");
  EXPECT_EQ(to_string(select(lt(a, b), min(a, c), max(b, c))), "select(a < b, min(a, c), max(b, c))");
}

TEST(Printer, FloatsRoundTripInTheirType) {
  EXPECT_EQ(to_string(float_imm(0.1, kF32)), "0.1");
  EXPECT_EQ(to_string(float_imm(0.1, kF64)), "0.1");
  EXPECT_EQ(to_string(float_imm(static_cast<double>(0.1F), kF64)), "0.10000000149011612");
  EXPECT_EQ(to_string(float_imm(1e20, kF32)), "1e+20");
  EXPECT_EQ(to_string(float_imm(-3, kF32)), "-3.0");
  EXPECT_EQ(to_string(float_imm(-0.0, kF32)), "-0.0");
  EXPECT_EQ(to_string(float_imm(-std::numeric_limits<double>::infinity(), kF32)), "-inf");
  EXPECT_EQ(to_string(float_imm(std::numeric_limits<double>::quiet_NaN(), kF32)), "nan");
}

TEST(Printer, LoweredForms) {
  const Buffer x = make_buffer("X", kF32, {64, 8}), acc = make_buffer("acc", kF32, {8}, kScopeRegister);
  const Var i("i"), n("n");
  const Expr lanes = ramp(0, 1, 8);
  Seq body;
  body.append(std::make_unique<Store>(acc, std::vector<Expr>{lanes},
                                      load(x, {i, lanes}, lt(lanes, 5)) + float_imm(1, kF32)));
  body.append(std::make_unique<If>(
      lt(i, 3), std::make_unique<Store>(x, std::vector<Expr>{i, lanes}, load(acc, {lanes}), lt(lanes, 5)),
      std::make_unique<Store>(x, std::vector<Expr>{i, 0}, call(MathOp::Exp, {cast(kF32, i)}))));
  Loop loop(LoopId{0}, i, n, 4, std::make_unique<Allocate>(acc, body.clone()));
  loop.loop_kind = LoopKind::Unrolled;
  EXPECT_EQ(
      to_string(loop),
      "for i in n..+4 unrolled:\n"
      "  alloc acc: f32[8] register:\n"
      "    acc[ramp(0, 1, 8)] = (X[broadcast(i, 8), ramp(0, 1, 8)] if ramp(0, 1, 8) < broadcast(5, 8)) + "
      "broadcast(1.0, 8)\n"
      "    if i < 3:\n"
      "      X[broadcast(i, 8), ramp(0, 1, 8)] = acc[ramp(0, 1, 8)] where ramp(0, 1, 8) < broadcast(5, 8)\n"
      "    else:\n"
      "      X[i, 0] = exp(f32(i))\n");
}

TEST(Printer, AHandover) {
  const Buffer x = make_buffer("X", kF32, {4});
  const auto side = [&](double value) {
    return std::make_unique<Store>(x, std::vector<Expr>{0}, float_imm(value, kF32));
  };
  EXPECT_EQ(to_string(Handover("squad.x", 2, side(1), side(2))),
            "handover(squad.x, versions 2):\n"
            "  produce:\n"
            "    X[0] = 1.0\n"
            "  consume:\n"
            "    X[0] = 2.0\n");
}

TEST(Printer, BuffersSayWhatIsNotUsual) {
  Program program;
  program.name = "p";
  program.inputs = {make_buffer("W", kBF16, {4, 4}, kScopeGlobal, true)};
  program.outputs = {make_buffer("Y", kI8, {4, 4}, kScopeGlobal, false, {8, 1})};
  EXPECT_EQ(to_string(program),
            "program p(W: bf16[4, 4] constant) -> (Y: i8[4, 4] strides [8, 1])\n"
            "  pass\n");
}

}  // namespace
}  // namespace tunesmith
