#include "unit/primitives/equivalence.h"

namespace tunesmith {
namespace {

using test::body_of;
using test::expect_refused;

TEST(Reorder, Refusals) {
  const Program program = test::make_gmm(6, 8, 6);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "reorder", "there are no loops", [&] { schedule.reorder({}); });
  expect_refused(schedule, "reorder", "a loop is named twice",
                 [&] { schedule.reorder({loops[0], loops[0]}); });

  // A split by four does not separate the digits of j and k in the fused loop: with the inner part outermost,
  // k = 2 would come before k = 0.
  const LoopRV fused = schedule.fuse({loops[1], loops[2]});
  const auto parts = schedule.split(fused, {12, 4});
  expect_refused(schedule, "reorder", "another iteration of a reduction would run before its initialisation",
                 [&] { schedule.reorder({parts[1], parts[0]}); });

  const Program chain = test::make_chain(6, 8);
  Schedule two(chain);
  const auto first = two.get_loops(two.get_block("B"));
  const auto second = two.get_loops(two.get_block("C"));
  expect_refused(two, "reorder", "the loops are not on one chain of only children",
                 [&] { two.reorder({first[0], second[1]}); });
}

TEST(Reorder, WhatAccumulatesMustRunEachInstanceOnce) {
  // Each p repeats the computation: with p inside the reduction, each step would be added twice.
  Program program = test::make_gmm(6, 8, 4);
  Block* block = program.find_block("C");
  Loop* k = loops_above(*block)[2];
  StmtPtr body = k->take_body();
  StmtPtr inner = program.make_loop(Var("k"), 4, nullptr);
  auto* moved = inner->as<Loop>();
  moved->set_body(std::move(body));
  block->bindings[2] = moved->var;
  replace(*k, program.make_loop(Var("p"), 2, std::move(inner)));
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  expect_refused(schedule, "reorder", "a block below accumulates and its bindings are not one-to-one",
                 [&] { schedule.reorder({loops[3], loops[2]}); });
}

TEST(Reorder, ConcurrentLoopsMustBeLegalAtTheirNewPlace) {
  const Program program = test::make_gmm(6, 8, 6);
  Schedule schedule(program);
  const auto loops = schedule.get_loops(schedule.get_block("C"));
  schedule.bind(loops[0], "block.x");
  schedule.reorder({loops[1], loops[0]});
  EXPECT_EQ(body_of(schedule).substr(0, 14), "for j in 0..8:");

  const Program chain = test::make_chain(6, 8);
  Schedule lanes(chain);
  const auto loop = lanes.get_loops(lanes.get_block("B"));
  lanes.vectorize(loop[1]);
  lanes.parallel(loop[0]);
  expect_refused(lanes, "reorder", "a concurrent loop would be illegal at its new place",
                 [&] { lanes.reorder({loop[1], loop[0]}); });
}

}  // namespace
}  // namespace tunesmith
