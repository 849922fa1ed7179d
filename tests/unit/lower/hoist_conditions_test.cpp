#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

/// A row of X, copied where `condition` over (row, column) holds.
Program copy_where(const std::function<Expr(const Var&, const Var&)>& condition, bool vectorized) {
  Schedule s(program_of("X: {shape: [8, 16], dtype: f32}", "O[i<8, j<16] = X[i, j]"));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  if (vectorized) s.vectorize(loops[1]);
  Program program = s.program().clone();
  Block& block = *program.find_block("O");
  const std::vector<Loop*> above = loops_above(block);
  block.predicate = condition(above[0]->var, above[1]->var);
  return program;
}

TEST(HoistConditions, ARowAsksOnceForAllItsVectors) {
  const Program program = copy_where([](const Var& i, const Var&) { return lt(i * i, 30); }, true);
  EXPECT_EQ(text_after(Pass::HoistConditions, program), R"(
  for i in 0..8:
    if i*i < 30:
      for j in 0..2 unrolled:
        O[ramp(i*16 + j*8, 1, 8)] = X[ramp(i*16 + j*8, 1, 8)]
        pass
    pass
)");
}

TEST(HoistConditions, WhatALoopMovesStaysInside) {
  const Program program = copy_where([](const Var& i, const Var& j) { return lt(i * j, 50); }, false);
  EXPECT_EQ(text_after(Pass::HoistConditions, program), R"(
  for i in 0..8:
    for j in 0..16:
      if i*j < 50:
        O[i*16 + j] = X[i*16 + j]
        pass
)");
}

TEST(HoistConditions, OneAmongOtherStatementsStaysInside) {
  Schedule s(
      program_of("X: {shape: [8, 4], dtype: f32}", "T[i<8, j<4] = exp(X[i, j])\n  O[i<8, j<4] = T[i, j]"));
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[1]);
  Program program = s.program().clone();
  Block& block = *program.find_block("O");
  const Var row = loops_above(block)[0]->var;
  block.predicate = lt(row * row, 30);
  EXPECT_NE(text_after(Pass::HoistConditions, program).find("      if i*i < 30:"), std::string::npos)
      << text_after(Pass::HoistConditions, program);
}

}  // namespace
}  // namespace tunesmith
