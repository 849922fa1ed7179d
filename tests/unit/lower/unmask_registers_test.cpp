#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"
#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

using namespace test;
using testing::HasSubstr;
using testing::Not;

std::string lowered(const Schedule& schedule) {
  return to_string(lower(schedule.program(), small_machine()).program);
}

/// A product in register tiles of `rows` x `columns`, with a separate init.
Schedule tiled(const Program& before, int64_t rows, int64_t columns) {
  Schedule s(before);
  const BlockRV out = s.get_block("O");
  const BlockRV copy = s.cache_write(out, 0, "local");
  const std::vector<LoopRV> loops = s.get_loops(out);
  const std::vector<LoopRV> i = s.split(loops[0], {std::nullopt, rows});
  const std::vector<LoopRV> j = s.split(loops[1], {std::nullopt, columns / 8, 8});
  s.reorder({i[0], j[0], loops[2], i[1], j[1], j[2]});
  s.reverse_compute_at(copy, j[0]);
  const BlockRV init = s.decompose_reduction(out, loops[2]);
  for (const BlockRV block : {out, init}) {
    const std::vector<LoopRV> around = s.get_loops(block);
    for (size_t n = around.size() - 3; n + 1 < around.size(); ++n) s.unroll(around[n]);
    s.vectorize(around.back());
  }
  const std::vector<LoopRV> out_loops = s.get_loops(copy);
  s.unroll(out_loops[2]);
  s.vectorize(out_loops[3]);
  return s;
}

TEST(UnmaskRegisters, RowsThatAreNotThereAccumulateUnmasked) {
  const Program before = gmm(7, 16, 4);
  const Schedule s = tiled(before, 3, 16);
  const std::string text = lowered(s);
  EXPECT_THAT(text, HasSubstr("] = broadcast(0.0, 8)\n"));
  EXPECT_THAT(text, HasSubstr("*B[ramp(k*16 + j_1*8, 1, 8)]\n"));
  EXPECT_THAT(text, Not(HasSubstr("(O_local[")));
  expect_sound(before, s);
}

TEST(UnmaskRegisters, LanesThatAreNotThereAccumulateUnmasked) {
  const Program before = gmm(6, 19, 4);
  const Schedule s = tiled(before, 3, 16);
  const std::string text = lowered(s);
  EXPECT_THAT(text, HasSubstr("] = broadcast(0.0, 8)\n"));
  // Loads from memory keep their masks.
  EXPECT_THAT(text, HasSubstr("(B[ramp(k*19 + j_0*16 + j_1*8, 1, 8)] if "));
  EXPECT_THAT(text, Not(HasSubstr("(O_local[")));
  expect_sound(before, s);
}

}  // namespace
}  // namespace tunesmith
