#include "unit/primitives/equivalence.h"

namespace tunesmith::test {
namespace {

Program reduction(const std::string& op, int64_t n, int64_t m) {
  return make_program(fmt::format("{{n: {}, m: {}}}", n, m), "{A: {shape: [n, m], dtype: i32}}",
                      fmt::format("O[i<n] = {}(r<m) A[i, r]", op));
}

TEST(Rfactor, EveryOperationAxisAndLoopRaggedOrNot) {
  for (const char* op : {"sum", "prod", "max", "min"}) {
    for (const int64_t m : {12, 13}) {
      const Program before = reduction(op, 3, m);
      for (const int axis : {0, 1, -1, -2}) {
        for (const size_t which : {0u, 1u}) {
          Schedule schedule(before);
          const BlockRV block = schedule.get_block("O");
          const std::vector<LoopRV> r = schedule.split(schedule.get_loops(block)[1], {std::nullopt, 4});
          const BlockRV partial = schedule.rfactor(r[which], axis);
          expect_sound(before, schedule);
          schedule.parallel(r[which]);
          expect_sound(before, schedule);
          schedule.compute_at(partial, schedule.get_loops(block)[0]);
          expect_sound(before, schedule);
        }
      }
    }
  }
}

TEST(Rfactor, TheWholeReductionLeavesNoReductionInThePart) {
  const Program before = reduction("sum", 3, 7);
  Schedule schedule(before);
  const BlockRV partial = schedule.rfactor(schedule.get_loops(schedule.get_block("O"))[1], 1);
  EXPECT_FALSE(schedule.block(partial).has_reduction());
  EXPECT_EQ(schedule.block(partial).init(), nullptr);
  expect_sound(before, schedule);
}

TEST(Rfactor, AReorderedAndTiledSpatialLoop) {
  const Program before =
      make_program("{n: 5, m: 9}", "{A: {shape: [n, m], dtype: i32}}", "O[i<n] = sum(r<m) A[i, r]");
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  const std::vector<LoopRV> i = schedule.split(loops[0], {std::nullopt, 2});
  const std::vector<LoopRV> r = schedule.split(loops[1], {std::nullopt, 3});
  schedule.reorder({r[0], i[0], r[1], i[1]});
  schedule.rfactor(r[0], 0);
  expect_sound(before, schedule);
}

TEST(Rfactor, RefusesASpatialLoop) {
  Schedule schedule(reduction("sum", 3, 8));
  const LoopRV loop = schedule.get_loops(schedule.get_block("O"))[0];
  expect_refused(schedule, "rfactor", "the loop does not carry the reduction",
                 [&] { schedule.rfactor(loop, 0); });
}

TEST(Rfactor, RefusesAFusedSpatialAndReductionLoop) {
  Schedule schedule(reduction("sum", 3, 8));
  const LoopRV loop = schedule.fuse(schedule.get_loops(schedule.get_block("O")));
  expect_refused(schedule, "rfactor", "a loop carries spatial and reduction iterators",
                 [&] { schedule.rfactor(loop, 0); });
}

TEST(Rfactor, ALoopThatOnlyTheConditionUsesStays) {
  const Program before = reduction("sum", 3, 8);
  Schedule schedule(before);
  const BlockRV block = schedule.get_block("O");
  const LoopRV unit = schedule.add_unit_loop(block);
  schedule.split(unit, {2});
  schedule.rfactor(schedule.get_loops(block)[1], 0);
  expect_sound(before, schedule);
}

TEST(Rfactor, RefusesToCountTwice) {
  Program program = make_gmm(4, 3, 5);
  program.root().insert(0, program.make_loop(Var("again"), 2, program.root().remove(0)));
  Schedule schedule(program);
  const BlockRV block = schedule.get_block("C");
  const std::vector<LoopRV> loops = schedule.get_loops(block);
  expect_refused(schedule, "rfactor", "an instance of the block may run more than once",
                 [&] { schedule.rfactor(loops[3], 0); });
  expect_refused(schedule, "decompose_reduction",
                 "an instance of the block may run more than once inside the loop",
                 [&] { schedule.decompose_reduction(block, loops[0]); });
  schedule.decompose_reduction(block, loops[1]);
  expect_sound(program, schedule);
}

TEST(Rfactor, RefusesADimensionBeyondTheBuffer) {
  Schedule schedule(reduction("sum", 3, 8));
  const LoopRV loop = schedule.get_loops(schedule.get_block("O"))[1];
  expect_refused(schedule, "rfactor", "the new buffer has no such dimension",
                 [&] { schedule.rfactor(loop, 2); });
}

TEST(Rfactor, RefusesABlockWithoutReduction) {
  Schedule schedule(make_chain(4, 3));
  const LoopRV loop = schedule.get_loops(schedule.get_block("B"))[1];
  expect_refused(schedule, "rfactor", "the block is not a sum, product, minimum or maximum",
                 [&] { schedule.rfactor(loop, 0); });
}

TEST(Rfactor, RefusesOtherStatementsUnderTheLoop) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: i32}}",
                                 "B[i<n, j<n] = A[i, j] + 1\n  O[i<n] = sum(r<n) B[i, r]"));
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("O"));
  schedule.compute_at(schedule.get_block("B"), loops[1]);
  expect_refused(schedule, "rfactor", "the loop holds more than one block",
                 [&] { schedule.rfactor(loops[1], 0); });
}

TEST(Rfactor, RefusesAReductionLoopSharedWithOthers) {
  Schedule schedule(make_program("{n: 4}", "{A: {shape: [n, n], dtype: i32}}",
                                 "B[i<n, j<n] = A[i, j] + 1\n  O[i<n] = sum(r<n) B[i, r]"));
  const BlockRV block = schedule.get_block("O");
  const std::vector<LoopRV> r = schedule.split(schedule.get_loops(block)[1], {std::nullopt, 2});
  schedule.compute_at(schedule.get_block("B"), r[0]);
  expect_refused(schedule, "rfactor", "a loop that holds other statements carries the reduction",
                 [&] { schedule.rfactor(r[1], 0); });
}

}  // namespace
}  // namespace tunesmith::test
