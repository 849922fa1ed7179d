// parallel, vectorize, unroll, bind.
#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

using test::body_of;
using test::expect_refused;

TEST(LoopKinds, ArePrinted) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  schedule.parallel(loops[0]);
  schedule.bind(loops[1], "thread.x");
  schedule.unroll(loops[2]);
  EXPECT_EQ(body_of(schedule),
            "for i in 0..6 parallel:\n"
            "  for j in 0..8 bind(thread.x):\n"
            "    for k in 0..4 unrolled:\n"
            "      block C(vi: spatial 6 = i, vj: spatial 8 = j, vk: reduction 4 = k):\n"
            "        init:\n"
            "          C[vi, vj] = 0.0\n"
            "        C[vi, vj] = C[vi, vj] + A[vi, vk]*B[vk, vj]\n");
  test::expect_sound(program, schedule, 1e-5);
}

TEST(LoopKinds, PartsOfSpatialLoopsMayRunAtOnce) {
  const Program program = test::make_chain(10, 8);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("B"));
  const auto parts = schedule.split(loops[0], {3, 4});
  const LoopRV fused = schedule.fuse({parts[1], loops[1]});
  const auto again = schedule.split(fused, {std::nullopt, 4});
  schedule.parallel(parts[0]);
  schedule.vectorize(again[1]);
  EXPECT_EQ(schedule.loop(again[1]).loop_kind, LoopKind::Vectorized);
  test::expect_sound(program, schedule, 1e-5);
}

TEST(LoopKinds, PartsOfAFusedLoopThatDivideNeitherOfItsLoopsMayRunAtOnce) {
  const Program program = test::make_chain(5, 7);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("B"));
  const auto parts = schedule.split(schedule.fuse(loops), {std::nullopt, 4, 3});
  schedule.bind(parts[1], "thread.x");
  schedule.vectorize(parts[2]);
  test::expect_sound(program, schedule, 1e-5);
}

TEST(Parallel, Refusals) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "parallel", "the loop carries a reduction", [&] { schedule.parallel(loops[2]); });
  schedule.unroll(loops[0]);
  expect_refused(schedule, "parallel", "the loop is not serial", [&] { schedule.parallel(loops[0]); });
  const LoopRV fused = schedule.fuse({loops[1], loops[2]});
  expect_refused(schedule, "parallel", "the loop carries a reduction", [&] { schedule.parallel(fused); });
}

TEST(Parallel, OpaqueIteratorsKeepTheirOrder) {
  Program program = test::make_chain(6, 8);
  for (IterVar& iter : program.find_block("B")->iters) iter.kind = IterKind::Opaque;
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("B"));
  expect_refused(schedule, "parallel", "a block below has opaque iterators",
                 [&] { schedule.parallel(loops[0]); });
  expect_refused(schedule, "reorder", "a block below has opaque iterators",
                 [&] { schedule.reorder({loops[1], loops[0]}); });
}

TEST(Parallel, IterationsMustNotWriteTheSame) {
  // Rows 2 y + d for d < 4 overlap: the loop over y cannot run in parallel, but the loop over d can.
  Program program = test::make_chain(10, 8);
  Block* block = program.find_block("C");
  const std::vector<Loop*> loops = loops_above(*block);
  const Var y("y"), d("d");
  block->bindings[0] = y * 2 + d;
  StmtPtr inner = loops[0]->take_body();
  replace(*loops[0], program.make_loop(y, 4, program.make_loop(d, 4, std::move(inner))));
  Schedule schedule(program);
  const auto handles = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "parallel", "different iterations of the loop may write the same element",
                 [&] { schedule.parallel(handles[0]); });
  schedule.parallel(handles[1]);
  expect_refused(schedule, "reorder", "a concurrent loop would be illegal at its new place",
                 [&] { schedule.reorder({handles[1], handles[0]}); });
}

TEST(Vectorize, Refusals) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "vectorize", "a reduction's initialization stands inside the loop",
                 [&] { schedule.vectorize(loops[1]); });

  const Program chain = test::make_chain(6, 8);
  Schedule two(chain);
  const auto outer = two.get_loops(two.get_block("B"));
  two.parallel(outer[1]);
  expect_refused(two, "vectorize", "a loop inside runs concurrently, too", [&] { two.vectorize(outer[0]); });
  const auto other = two.get_loops(two.get_block("C"));
  two.vectorize(other[0]);
  expect_refused(two, "parallel", "the loop stands inside a vectorized one", [&] { two.parallel(other[1]); });
}

TEST(Vectorize, LanesShareWhatABlockBelowKeepsForItself) {
  const Program program = test::make_chain(4, 6);
  Schedule schedule(program);
  const BlockRV block = schedule.get_block("B");
  const auto loops = schedule.get_loops(block);
  schedule.blockize(loops[1]);
  const BlockRV copy = schedule.cache_read(block, 0, "global");
  schedule.compute_at(copy, schedule.get_loops(block).back());
  expect_refused(schedule, "vectorize", "a block below has a buffer of its own",
                 [&] { schedule.vectorize(loops[0]); });
  schedule.parallel(loops[0]);
  test::expect_sound(program, schedule, 1e-5);
}

TEST(Bind, Refusals) {
  const Program program = test::make_gmm(6, 8, 4);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "bind", "the thread axis has no name", [&] { schedule.bind(loops[0], ""); });
  expect_refused(schedule, "bind", "a thread axis is named <level>.<axis>",
                 [&] { schedule.bind(loops[0], "thread"); });
  expect_refused(schedule, "bind", "the loop carries a reduction",
                 [&] { schedule.bind(loops[2], "thread.x"); });
  schedule.bind(loops[0], "thread.x");
  expect_refused(schedule, "bind", "a loop inside or around is bound to the same thread axis",
                 [&] { schedule.bind(loops[1], "thread.x"); });
}

}  // namespace
}  // namespace tunesmith
