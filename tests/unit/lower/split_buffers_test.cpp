#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

using namespace test;

/// Names of the intermediate buffers after the pass.
std::vector<std::string> parts_of(const Program& program) {
  Program p = program.clone();
  BlockFacts facts = lower_blocks(p);
  split_buffers(p, facts);
  std::vector<std::string> names;
  for (const Buffer& buffer : p.intermediates) names.push_back(buffer->name);
  return names;
}

/// A product in tiles of three rows, with one row left over and the tiles' sums in registers.
Schedule ragged_rows(const Program& before) {
  Schedule s(before);
  const BlockRV out = s.get_block("O");
  const BlockRV copy = s.cache_write(out, 0, "local");
  const std::vector<LoopRV> loops = s.get_loops(out);
  const std::vector<LoopRV> rows = s.split(loops[0], {std::nullopt, 3});
  s.reorder({rows[0], loops[2], rows[1], loops[1]});
  s.reverse_compute_at(copy, rows[0]);
  const BlockRV init = s.decompose_reduction(out, loops[2]);
  for (const BlockRV block : {out, init, copy}) {
    const std::vector<LoopRV> around = s.get_loops(block);
    s.unroll(around[around.size() - 2]);
    s.vectorize(around.back());
  }
  s.loop_partition(rows[0], {int64_t{2}});
  return s;
}

TEST(SplitBuffers, PiecesOfALoopAccumulateInRegistersOfTheirOwn) {
  const Program before = gmm(7, 8, 4);
  const Schedule s = ragged_rows(before);
  EXPECT_THAT(parts_of(s.program()), testing::ElementsAre("O_local", "O_local_1"));
  const std::string text = to_string(lower(s.program(), small_machine()).program);
  EXPECT_THAT(text, testing::HasSubstr("alloc O_local: f32[3, 8] register"));
  EXPECT_THAT(text, testing::HasSubstr("alloc O_local_1: f32[1, 8] register"));
  expect_sound(before, s);
}

TEST(SplitBuffers, WhatIsReadTogetherStaysTogether) {
  Schedule s(program_of(kInput, kChain));
  s.loop_partition(s.get_loops(s.get_block("T"))[0], {int64_t{3}});
  EXPECT_THAT(parts_of(s.program()), testing::ElementsAre("T"));
}

TEST(SplitBuffers, BothSidesOfACutBecomeTheirOwn) {
  const Program before = program_of(kInput, kChain);
  Schedule s(before);
  s.loop_partition(s.get_loops(s.get_block("T"))[0], {int64_t{3}});
  s.loop_partition(s.get_loops(s.get_block("O"))[0], {int64_t{3}});
  EXPECT_THAT(parts_of(s.program()), testing::ElementsAre("T", "T_1"));
  expect_sound(before, s);
}

TEST(SplitBuffers, PiecesThatReadTheirNeighboursDoNotPart) {
  Schedule s(program_of(kInput, "T[i<8, j<16] = exp(X[i, j])\n  O[i<7, j<16] = T[i, j] + T[i + 1, j]"));
  s.loop_partition(s.get_loops(s.get_block("T"))[0], {int64_t{3}});
  s.loop_partition(s.get_loops(s.get_block("O"))[0], {int64_t{3}});
  EXPECT_THAT(parts_of(s.program()), testing::ElementsAre("T"));
}

}  // namespace
}  // namespace tunesmith
