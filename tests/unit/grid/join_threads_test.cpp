#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/grid/tile_order.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/interpreter.h"
#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

std::string body_text(const Program& program) {
  const std::string text = to_string(program);
  return "\n" + text.substr(text.find('\n') + 1);
}

std::string joined_text(const Schedule& s, std::string_view last = "place_buffers") {
  return body_text(lowered_for_grid(s.program(), last).program);
}

void expect_refused(const Schedule& s, const std::string& message) {
  EXPECT_THAT([&] { lowered_for_grid(s.program()); },
              testing::ThrowsMessage<LowerError>(testing::HasSubstr(message)));
}

const char* const kInput = "X: {shape: [8, 16], dtype: f32}";
const char* const kReversedChain = "T[i<8, j<16] = exp(X[i, j])\n  O[i<8, j<16] = T[i, 15 - j] + 1";

/// All threads of a block fetch tiles of both operands, and each computes one element.
Schedule cooperative_gmm(const std::string& accumulator = "") {
  Schedule s(gmm(8, 8, 16));
  const BlockRV product = s.get_block("O");
  std::vector<LoopRV> loops = s.get_loops(product);
  const std::vector<LoopRV> i = s.split(loops[0], {std::nullopt, 4});
  const std::vector<LoopRV> j = s.split(loops[1], {std::nullopt, 4});
  const std::vector<LoopRV> k = s.split(loops[2], {std::nullopt, 4});
  s.reorder({i[0], j[0], k[0], i[1], j[1], k[1]});
  share_operands(s, product, k[0], j[0], accumulator);
  s.bind(i[0], "block.y");
  s.bind(j[0], "block.x");
  s.bind(i[1], "thread.y");
  s.bind(j[1], "thread.x");
  return s;
}

TEST(JoinThreads, SiblingsBecomePiecesWithABarrierBetween) {
  Schedule s(program_of(kInput, kReversedChain));
  s.set_scope(s.get_block("T"), 0, "shared");
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[0]);
  s.bind(s.get_loops(s.get_block("O"))[0], "block.x");
  s.bind(s.get_loops(s.get_block("T"))[1], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[1], "thread.x");
  EXPECT_EQ(joined_text(s), R"(
  for i in 0..8 bind(block.x):
    alloc T: f32[1, 16] shared:
      for thread_x in 0..16 bind(thread.x):
        T[i - i, thread_x] = exp(X[i, thread_x])
        barrier(thread)
        O[i, thread_x] = T[i - i, 15 - thread_x] + 1.0
)");
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, NoBarrierWhereEachThreadHasItsOwnElements) {
  Schedule s(program_of(kInput, "T[i<8, j<16] = exp(X[i, j])\n  O[i<8, j<16] = T[i, j] + 1"));
  s.set_scope(s.get_block("T"), 0, "shared");
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[0]);
  s.bind(s.get_loops(s.get_block("O"))[0], "block.x");
  s.bind(s.get_loops(s.get_block("T"))[1], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[1], "thread.x");
  const LoweredProgram lowered = lowered_for_grid(s.program());
  EXPECT_EQ(find_first<Barrier>(lowered.program.root()), nullptr) << to_string(lowered.program);
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, AreGuardedWhereTheirExtentsDiffer) {
  Schedule s(program_of(kInput, "T[i<8] = X[i, 3]\n  O[i<8, j<16] = T[7 - i] + X[i, j]"));
  s.set_scope(s.get_block("T"), 0, "shared");
  s.compute_at(s.get_block("T"), s.split(s.get_loops(s.get_block("O"))[0], {1, std::nullopt})[0]);
  s.bind(s.get_loops(s.get_block("T"))[1], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[2], "thread.x");
  EXPECT_THAT(joined_text(s), testing::HasSubstr("if thread_x < 8:"));
  EXPECT_THAT(joined_text(s), testing::HasSubstr("barrier(thread)"));
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, ThreadsThatAreLeftOutNeedNoRoom) {
  Schedule s(program_of("X: {shape: [64], dtype: f32}", "T[i<64] = exp(X[i])\n  O[i<64, j<4] = T[i] + X[j]"));
  s.set_scope(s.get_block("T"), 0, "shared");
  const std::vector<LoopRV> tiles = s.split(s.get_loops(s.get_block("O"))[0], {IntArg{8}, IntArg{8}});
  s.compute_at(s.get_block("T"), tiles[0]);
  s.bind(tiles[0], "block.x");
  s.bind(s.get_loops(s.get_block("T"))[1], "thread.x");
  s.bind(s.fuse({tiles[1], s.get_loops(s.get_block("O"))[2]}), "thread.x");
  EXPECT_THAT(joined_text(s, "flatten"), testing::HasSubstr("if thread_x < 8:"));
  EXPECT_THAT(joined_text(s, "flatten"), testing::HasSubstr("alloc T: f32[8] shared"));
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, ACooperativeFetchWaitsBeforeAndAfterItsUse) {
  const Schedule s = cooperative_gmm();
  EXPECT_EQ(joined_text(s, "flatten"), R"(
  for i_0 in 0..2 bind(block.y):
    for j_0 in 0..2 bind(block.x):
      alloc B_shared: f32[4, 4] shared:
        alloc A_shared: f32[4, 4] shared:
          for thread_y in 0..4 bind(thread.y):
            for thread_x in 0..4 bind(thread.x):
              for k_0 in 0..4:
                A_shared[thread_x + thread_y*4] = A[i_0*64 + k_0*4 + thread_x + thread_y*16]
                B_shared[thread_x + thread_y*4] = B[j_0*4 + k_0*32 + thread_x + thread_y*8]
                barrier(thread)
                for k_1 in 0..4:
                  if k_0*4 + k_1 == 0:
                    O[i_0*32 + j_0*4 + thread_x + thread_y*8] = 0.0
                  O[i_0*32 + j_0*4 + thread_x + thread_y*8] = O[i_0*32 + j_0*4 + thread_x + thread_y*8] + A_shared[k_1 + thread_y*4]*B_shared[k_1*4 + thread_x]
                barrier(thread)
              pass
)");
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, WhatLivesAcrossPiecesIsEachThreadsOwn) {
  const Schedule s = cooperative_gmm("local");
  EXPECT_THAT(joined_text(s), testing::HasSubstr("O_local: f32[1, 1] local"));
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, EveryBarrierOfACooperativeFetchIsNeeded) {
  for (const char* accumulator : {"", "local"}) {
    const Schedule s = cooperative_gmm(accumulator);
    const LoweredProgram lowered = lowered_for_grid(s.program());
    const size_t barriers = collect<Barrier>(lowered.program.root()).size();
    EXPECT_EQ(barriers, 2u);
    for (size_t left_out = 0; left_out < barriers; ++left_out) {
      LoweredProgram wrong = lowered_for_grid(s.program());
      replace(*collect<Barrier>(wrong.program.root())[left_out], nullptr);
      std::vector<Tensor> arguments = random_arguments(wrong.program);
      // Without the first, elements are read before they are fetched; without the second, fetched while they
      // are read.
      EXPECT_THAT([&] { interpret(wrong, arguments); },
                  testing::ThrowsMessage<InterpreterError>(
                      testing::HasSubstr(left_out == 0 ? "is read before anything was written" : "race:")));
    }
  }
}

// The loop's first accesses do not concern the statements before it, so its own first barrier is early
// enough.
TEST(JoinThreads, NoBarrierBeforeALoopWhoseOwnComesSoonEnough) {
  Schedule s = cooperative_gmm();
  const BlockRV product = s.get_block("O");
  s.decompose_reduction(product, s.get_loops(product)[2]);
  EXPECT_THAT(joined_text(s, "flatten"),
              testing::HasSubstr("O[i_0*32 + j_0*4 + thread_x + thread_y*8] = 0.0\n"
                                 "              for k_0 in 0..4:\n"
                                 "                A_shared["));
  EXPECT_EQ(collect<Barrier>(lowered_for_grid(s.program()).program.root()).size(), 2u);
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, ABarrierBeforeALoopThatBeginsWithWhatOthersWrote) {
  Schedule s(program_of(kInput, kReversedChain));
  s.set_scope(s.get_block("T"), 0, "shared");
  const std::vector<LoopRV> rows = s.split(s.get_loops(s.get_block("O"))[0], {std::nullopt, 2});
  s.compute_at(s.get_block("T"), rows[0]);
  s.bind(s.get_loops(s.get_block("T"))[2], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[2], "thread.x");
  s.bind(rows[0], "block.x");
  EXPECT_THAT(joined_text(s), testing::HasSubstr("barrier(thread)\n        for i_1 in 0..2:\n          O["));
  expect_same_after_every_step(s.program());
}

// Each iteration of i reuses the memory of T, but thread.x accesses the same column.
TEST(JoinThreads, NoBarrierWhereMemoryIsUsedAgainByTheSameThread) {
  Schedule s(program_of(kInput, "T[i<8, j<16] = exp(X[i, j])\n  O[i<8, j<16] = T[i, j] + 1"));
  s.set_scope(s.get_block("T"), 0, "shared");
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[0]);
  s.bind(s.get_loops(s.get_block("T"))[1], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[1], "thread.x");
  const LoweredProgram lowered = lowered_for_grid(s.program());
  EXPECT_EQ(find_first<Barrier>(lowered.program.root()), nullptr) << to_string(lowered.program);
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, RefusesALocalBufferThatAnotherThreadReads) {
  Schedule s(program_of(kInput, kReversedChain));
  s.set_scope(s.get_block("T"), 0, "local");
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[0]);
  s.bind(s.get_loops(s.get_block("T"))[1], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[1], "thread.x");
  expect_refused(s, "join_threads: threads use one element of a buffer that each has for itself: T");
}

TEST(JoinThreads, RefusesASharedTemporaryOfOneThread) {
  Schedule s(program_of(kInput, "T[i<8, j<16] = exp(X[i, j])\n  O[i<8, j<16] = T[i, j] + 1"));
  s.set_scope(s.get_block("T"), 0, "shared");
  s.bind(s.get_loops(s.get_block("O"))[0], "thread.x");
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[1]);
  EXPECT_NO_THROW(lowered_for_grid(s.program())) << "each thread writes a row of its own";

  Schedule same(program_of(kInput, "T[j<16] = exp(X[0, j])\n  O[i<8, j<16] = T[j] + 1"));
  same.set_scope(same.get_block("T"), 0, "shared");
  same.bind(same.get_loops(same.get_block("O"))[0], "thread.x");
  same.compute_at(same.get_block("T"), same.get_loops(same.get_block("O"))[0]);
  expect_refused(same, "threads write one element of a buffer that they share: T");
}

TEST(JoinThreads, ATemporaryWithoutAScopeOfItsOwnIsOneThreads) {
  Schedule s(program_of(kInput, "T[j<16] = exp(X[0, j])\n  O[i<8, j<16] = T[j] + 1"));
  s.bind(s.get_loops(s.get_block("O"))[0], "thread.x");
  s.compute_at(s.get_block("T"), s.get_loops(s.get_block("O"))[1]);
  EXPECT_THAT(joined_text(s), testing::HasSubstr("alloc T: f32[1] local:"));
  expect_same_after_every_step(s.program());
}

TEST(JoinThreads, RefusesWhatSeveralLaunchesUse) {
  Schedule s(program_of(kInput, kReversedChain));
  s.set_scope(s.get_block("T"), 0, "shared");
  expect_refused(s, "a buffer that belongs to a level is used by several launches: T");
}

TEST(JoinThreads, RefusesALaunchInsideALoop) {
  Schedule s(gmm(8, 8, 16));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.bind(loops[1], "block.x");
  expect_refused(s, "a loop of the launch does not stand around all that it launches: j, bound to block.x");
}

/// Eight tiles along the axis.
Schedule ordered_tiles(int64_t columns, int64_t group, std::string_view axis = "block.x") {
  Schedule s(program_of(kInput, "O[i<8, j<16] = X[i, j] + 1"));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  s.bind(loops[0], axis);
  s.annotate(loops[0], kTileColumns, columns);
  s.annotate(loops[0], kTileGroup, group);
  return s;
}

TEST(JoinThreads, KeepsAnOrderOfTilesThatIsNotTheirOwn) {
  const auto order_of = [](const Schedule& s) {
    const Program lowered = lowered_for_grid(s.program()).program;
    return find_first<Loop>(lowered.root(), [](const Loop& loop) {
             return loop.annotations.contains(kTileColumns) && loop.annotations.contains(kTileGroup);
           }) != nullptr;
  };
  EXPECT_TRUE(order_of(ordered_tiles(4, 2)));
  for (const auto& [columns, group] : {std::pair{4, 1}, {1, 2}, {8, 2}})
    EXPECT_FALSE(order_of(ordered_tiles(columns, group)));
}

TEST(JoinThreads, RefusesAnOrderThatIsNoneOfTheLaunchesTiles) {
  expect_refused(ordered_tiles(3, 2), "the tiles of a launch are no whole rows");
  expect_refused(ordered_tiles(4, 0), "the tiles of a launch are no whole rows");
  expect_refused(ordered_tiles(4, 2, "thread.x"), "tiles are ordered along a loop that launches no blocks");
}

TEST(JoinThreads, RefusesMoreThreadsThanTheLevelHas) {
  Schedule s(program_of("X: {shape: [200], dtype: f32}", "O[i<200] = X[i]"));
  s.bind(s.get_loops(s.get_block("O"))[0], "thread.x");
  expect_refused(s, "200 of thread.x, 200 of thread together, of at most 64 and 128");
}

TEST(JoinThreads, ProgramsOfTheHostStayAsTheyAre) {
  Schedule s(program_of(kInput, kReversedChain));
  const LowerOptions options;
  LoweringState state(s.program(), options);
  kernel_step("lower_blocks").run(state);
  const std::string before = to_string(state.lowered.program);
  grid::join_threads().run(state);
  EXPECT_EQ(to_string(state.lowered.program), before);
}

}  // namespace
}  // namespace tunesmith
