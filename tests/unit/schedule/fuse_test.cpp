#include "unit/schedule/equivalence.h"

namespace tunesmith {
namespace {

using test::body_of;
using test::expect_refused;

TEST(Fuse, OneLoopRunsThroughAll) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const LoopRV fused = schedule.fuse({loops[0], loops[1], loops[2]});
  EXPECT_EQ(
      body_of(schedule),
      "for i_j_k_f in 0..192:\n"
      "  block C(vi: spatial 6 = i_j_k_f//32, vj: spatial 8 = i_j_k_f//4%8, vk: reduction 4 = i_j_k_f%4):\n"
      "    init:\n"
      "      C[vi, vj] = 0.0\n"
      "    C[vi, vj] = C[vi, vj] + A[vi, vk]*B[vk, vj]\n");
  EXPECT_EQ(schedule.loop(fused).const_extent(), 192);
  test::expect_sound(program, schedule, 1e-5);
}

TEST(Fuse, UndoesSplit) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const auto parts = schedule.split(loops[1], {2, 4});
  schedule.fuse(parts);
  EXPECT_NE(body_of(schedule).find("vj: spatial 8 = j_0_j_1_f,"), std::string::npos) << body_of(schedule);
}

TEST(Fuse, OneLoopIsItself) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  const LoopRV same = schedule.fuse({loops[1]});
  EXPECT_EQ(schedule.location(same), schedule.location(loops[1]));
}

TEST(Fuse, Refusals) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "fuse", "there are no loops", [&] { schedule.fuse({}); });
  expect_refused(schedule, "fuse", "a loop is not the only child of the one before",
                 [&] { schedule.fuse({loops[0], loops[2]}); });
  expect_refused(schedule, "fuse", "a loop is not the only child of the one before",
                 [&] { schedule.fuse({loops[1], loops[0]}); });
  schedule.parallel(loops[0]);
  expect_refused(schedule, "fuse", "the loop is not serial", [&] { schedule.fuse({loops[0], loops[1]}); });
}

}  // namespace
}  // namespace tunesmith
