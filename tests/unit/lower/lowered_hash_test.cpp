#include <set>

#include <gtest/gtest.h>

#include <tunesmith/lower/lower.h>
#include <tunesmith/trace/schedule.h>

#include "unit/ir/make_gmm.h"

namespace tunesmith {
namespace {

uint64_t hash_of(const Program& program, const LowerOptions& options = {}) {
  return lowered_hash(lower(program, options));
}

TEST(LoweredHash, TracesThatLowerToOneProgramAreOne) {
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program);
  schedule.reorder_block_iter_var(schedule.get_block("C"), {1, 0, 2});
  EXPECT_NE(structural_hash(schedule.program()), structural_hash(program));
  EXPECT_EQ(hash_of(schedule.program()), hash_of(program));
}

// They were once different candidates, and measured as if they were different programs.
TEST(LoweredHash, LoopsOfOneIterationAreNone) {
  const Program program = test::make_gmm(8, 8, 4);
  std::set<uint64_t> hashes{hash_of(program)};
  for (const size_t split : {0, 1, 2}) {
    for (const bool inner : {false, true}) {
      Schedule schedule(program);
      const LoopRV loop = schedule.get_loops(schedule.get_block("C"))[split];
      const std::vector<LoopRV> parts = inner ? schedule.split(loop, {std::nullopt, IntArg(1)})
                                              : schedule.split(loop, {IntArg(1), std::nullopt});
      hashes.insert(hash_of(schedule.program()));
      schedule.unroll(parts[inner ? 1 : 0]);
      hashes.insert(hash_of(schedule.program()));
    }
  }
  EXPECT_EQ(hashes.size(), 1u);
}

TEST(LoweredHash, WhatATargetIsGivenCounts) {
  const Program program = test::make_gmm(8, 8, 4);
  std::set<uint64_t> hashes{hash_of(program)};
  Schedule parallel(program);
  parallel.parallel(parallel.get_loops(parallel.get_block("C"))[0]);
  EXPECT_TRUE(hashes.insert(hash_of(parallel.program())).second);
  LoweredProgram lowered = lower(program, {});
  lowered.workspace_bytes += 64;
  EXPECT_TRUE(hashes.insert(lowered_hash(lowered)).second);
  LoweredProgram placed = lower(program, {});
  placed.workspace.push_back({placed.program.inputs[0], 64});
  EXPECT_TRUE(hashes.insert(lowered_hash(placed)).second);
  LoweredProgram prepared = lower(program, {});
  prepared.prepare = std::make_unique<LoweredProgram>(lower(program, {}));
  EXPECT_TRUE(hashes.insert(lowered_hash(prepared)).second);
}

TEST(LoweredHash, NoNameCounts) {
  const Program program = test::make_gmm(8, 8, 4);
  Program other = program.clone();
  other.name = "layer2";
  other.swap_buffer(other.inputs[1], make_buffer("weights", kF32, {4, 8}));
  EXPECT_EQ(hash_of(other), hash_of(program));
}

}  // namespace
}  // namespace tunesmith
