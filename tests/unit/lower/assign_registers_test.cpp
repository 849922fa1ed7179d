#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/lowered_stmt.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

/// T is computed for each row at a time; in `scope`, under an unrolled or a serial loop.
Program rows(int64_t width, const char* scope, bool unrolled) {
  Schedule s(program_of(fmt::format("X: {{shape: [8, {}], dtype: f32}}", width),
                        fmt::format("T[i<8, j<{0}] = exp(X[i, j])\n  O[i<8, j<{0}] = T[i, j] + 1", width)));
  const BlockRV t = s.get_block("T");
  s.set_scope(t, 0, scope);
  s.compute_at(t, s.get_loops(s.get_block("O"))[0]);
  if (unrolled) {
    s.unroll(s.get_loops(t).back());
    s.unroll(s.get_loops(s.get_block("O")).back());
  }
  return s.program().clone();
}

TEST(AssignRegisters, ALocalBufferWithConstantIndicesMovesToRegisters) {
  EXPECT_EQ(text_after(Pass::AssignRegisters, rows(4, kScopeLocal, true)), R"(
  for i in 0..8:
    alloc T: f32[1, 4] register:
      for ax0 in 0..4 unrolled:
        T[ax0] = exp(X[i*4 + ax0])
        pass
      for j in 0..4 unrolled:
        O[i*4 + j] = T[j] + 1.0
        pass
    pass
)");
}

TEST(AssignRegisters, OneThatDoesNotFitStaysWhereItIs) {
  EXPECT_THAT(text_after(Pass::AssignRegisters, rows(4, kScopeLocal, false)),
              testing::HasSubstr("alloc T: f32[1, 4] local:"));
  EXPECT_THAT(text_after(Pass::AssignRegisters, rows(17, kScopeLocal, true)),
              testing::HasSubstr("alloc T: f32[1, 17] local:"));
}

TEST(AssignRegisters, ATileLeavesRoomForItsOperands) {
  const auto tiled = [](int64_t rows, bool unrolled_steps = false) {
    Schedule s(gmm(rows, 16, 8));
    const BlockRV product = s.get_block("O");
    const BlockRV copy = s.cache_write(product, 0, kScopeLocal);
    const std::vector<LoopRV> loops = s.get_loops(product);
    s.reorder({loops[2], loops[0], loops[1]});
    s.decompose_reduction(product, loops[2]);
    for (const BlockRV block : {product, s.get_block("O_init"), copy}) {
      const std::vector<LoopRV> its = s.get_loops(block);
      s.vectorize(its.back());
      s.unroll(its[its.size() - 2]);
    }
    if (unrolled_steps) s.unroll(loops[2]);
    return s.program().clone();
  };
  EXPECT_THAT(text_after(Pass::AssignRegisters, tiled(6, true)),
              testing::HasSubstr("O_local: f32[6, 16] register"))
      << "one step has two vectors of B, eight steps have them one after the other";
  EXPECT_THAT(text_after(Pass::AssignRegisters, tiled(6)),
              testing::HasSubstr("O_local: f32[6, 16] register"));
  EXPECT_THAT(text_after(Pass::AssignRegisters, tiled(7)), testing::HasSubstr("O_local: f32[7, 16] local"))
      << "14 accumulators, two vectors of B and one element of A are more than 16";
}

TEST(AssignRegisters, ARegisterBufferThatCannotStayIsRefused) {
  EXPECT_THAT(
      [] { lowered_to(rows(4, kScopeRegister, false), Pass::AssignRegisters); },
      testing::ThrowsMessage<LowerError>(
          "assign_registers: a register buffer cannot live in registers: T: an index is not constant once "
          "the unrolled loops are expanded"));
  EXPECT_THAT(
      [] { lowered_to(rows(17, kScopeRegister, true), Pass::AssignRegisters); },
      testing::ThrowsMessage<LowerError>(
          "assign_registers: a register buffer cannot live in registers: T: it needs more registers than "
          "the target has"));
}

TEST(AssignRegisters, OneThatThreadsShareStaysInMemory) {
  Schedule s(program_of("X: {shape: [8], dtype: f32}", "T[i<8] = exp(X[i])\n  O[i<8, j<4] = T[i] + 1"));
  const BlockRV t = s.get_block("T");
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.set_scope(t, 0, kScopeLocal);
  s.compute_at(t, loops[0]);
  EXPECT_THAT(text_after(Pass::AssignRegisters, s.program()),
              testing::HasSubstr("alloc T: f32[1] register:"));
  s.parallel(loops[1]);
  EXPECT_THAT(text_after(Pass::AssignRegisters, s.program()), testing::HasSubstr("alloc T: f32[1] local:"));
}

TEST(AssignRegisters, OneReadByAVectorThatBeginsBeforeItStaysInMemory) {
  const auto with_access_from = [](int64_t first, const char* scope) {
    const Buffer x = make_buffer("X", kF32, {10}), o = make_buffer("O", kF32, {8});
    const Buffer t = make_buffer("T", kF32, {2}, scope);
    const Expr at = ramp(first, 1, 8);
    const Expr mask = logical_and(le(broadcast(0, 8), at), lt(at, broadcast(2, 8)));
    std::vector<StmtPtr> uses;
    uses.push_back(
        std::make_unique<Store>(t, std::vector<Expr>{at}, load(x, {ramp(first + 1, 1, 8)}, mask), mask));
    uses.push_back(std::make_unique<Store>(o, std::vector<Expr>{ramp(0, 1, 8)}, load(t, {at}, mask), Expr()));
    Program program;
    program.inputs = {x};
    program.outputs = {o};
    program.root().append(std::make_unique<Allocate>(t, std::make_unique<Seq>(std::move(uses))));
    assign_registers(program, small_machine());
    return body_text(program);
  };
  EXPECT_THAT(with_access_from(0, kScopeLocal), testing::HasSubstr("alloc T: f32[2] register:"));
  EXPECT_THAT(with_access_from(-1, kScopeLocal), testing::HasSubstr("alloc T: f32[2] local:"));
  EXPECT_THAT([&] { with_access_from(-1, kScopeRegister); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr("T: an access begins before it")));
}

TEST(AssignRegisters, AGlobalBufferIsLeftAlone) {
  EXPECT_THAT(text_after(Pass::AssignRegisters, rows(4, kScopeGlobal, true)),
              testing::HasSubstr("alloc T: f32[1, 4]:"));
}

}  // namespace
}  // namespace tunesmith
