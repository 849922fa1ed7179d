#include "tunesmith/tuning/plain_blocks.h"

#include <gmock/gmock.h>

#include "sketch_blocks.h"
#include "tunesmith/tuning/tune_many.h"
#include "unit/tuning/tuner_fixture.h"

namespace tunesmith {
namespace {

/// Two products of one input, of which `multi_level_tiling` tiles one.
constexpr const char* kSiblings = R"(name: siblings
params: {m: 64, k: 48, n: 96}
inputs:
  X: {shape: [m, k], dtype: f32}
  V: {shape: [k, n], dtype: f32}
  W: {shape: [k, n], dtype: f32}
compute: |
  A[i<m, j<n] = sum(r<k) X[i, r] * V[r, j]
  B[i<m, j<n] = sum(r<k) X[i, r] * W[r, j]
  O[i<m, j<n] = A[i, j] * B[i, j]
outputs: [O]
)";

constexpr const char* kProductExp = R"(name: product
params: {n: 64}
inputs:
  X: {shape: [n, n], dtype: f32}
  W: {shape: [n, n], dtype: f32}
compute: |
  C[i<n, j<n] = sum(r<n) X[i, r] * W[r, j]
  O[i<n, j<n] = exp(C[i, j])
outputs: [O]
)";

constexpr const char* kRowSums = R"(name: rows
params: {m: 32, n: 64}
inputs:
  X: {shape: [m, n], dtype: f32}
compute: |
  E[i<m, j<n] = exp(X[i, j])
  S[i<m] = sum(j<n) E[i, j]
  O[i<m, j<n] = E[i, j] / S[i]
outputs: [O]
)";

Workload parse(const char* text) { return WorkloadDefinition::parse(text, "test.yaml").instantiate(); }

/// A schedule by hand.
struct ByHand {
  explicit ByHand(const char* text) : workload(parse(text)), schedule(workload.program) {}

  bool is_plain(const std::string& name, std::span<const SketchStep> steps = {}) const {
    const Block* const block = schedule.program().find_block(name);
    EXPECT_NE(block, nullptr) << name;
    return SketchBlocks(workload.program, schedule, steps).is_plain(*block);
  }

  std::vector<LoopRV> loops(const std::string& name) { return schedule.get_loops(schedule.get_block(name)); }

  /// Tiles C[i, j] = sum(r) of kProductExp; returns the loops i0, j0, r, i1, j1.
  std::vector<LoopRV> tile(const std::string& name) {
    const std::vector<LoopRV> whole = loops(name);
    const std::vector<LoopRV> rows = schedule.split(whole[0], {std::nullopt, 8});
    const std::vector<LoopRV> columns = schedule.split(whole[1], {std::nullopt, 16});
    const std::vector<LoopRV> order{rows[0], columns[0], whole[2], rows[1], columns[1]};
    schedule.reorder(order);
    return order;
  }

  Workload workload;
  Schedule schedule;
};

TEST(SketchBlocks, AProductIsPlainWithoutTiles) {
  ByHand untouched(kProductExp);
  EXPECT_TRUE(untouched.is_plain("C"));
  ByHand tiled(kProductExp);
  tiled.tile("C");
  EXPECT_FALSE(tiled.is_plain("C"));
}

TEST(SketchBlocks, WhatFinishesLoopsIsNoTile) {
  ByHand cut(kProductExp);
  std::vector<LoopRV> loops = cut.loops("C");
  const std::vector<LoopRV> columns = cut.schedule.split(loops[1], {std::nullopt, 16});
  const std::vector<LoopRV> steps = cut.schedule.split(loops[2], {std::nullopt, 4});
  cut.schedule.parallel(loops[0]);
  cut.schedule.unroll(steps[1]);
  cut.schedule.decompose_reduction(cut.schedule.get_block("C"), steps[0]);
  EXPECT_TRUE(cut.is_plain("C"));

  ByHand bound(kProductExp);
  loops = bound.loops("C");
  const std::vector<LoopRV> threads =
      bound.schedule.split(bound.schedule.fuse({loops[0], loops[1]}), {std::nullopt, 32});
  bound.schedule.bind(threads[0], "block.x");
  bound.schedule.bind(threads[1], "thread.x");
  EXPECT_TRUE(bound.is_plain("C"));

  ByHand swapped(kProductExp);
  loops = swapped.loops("C");
  swapped.schedule.reorder({loops[0], loops[2], loops[1]});
  swapped.schedule.decompose_reduction(swapped.schedule.get_block("C"), loops[2]);
  swapped.schedule.vectorize(swapped.schedule.split(loops[1], {std::nullopt, 16})[1]);
  EXPECT_TRUE(swapped.is_plain("C")) << "whole loops in another order";
}

TEST(SketchBlocks, ALoopOfOneIterationIsNone) {
  ByHand trivial(kProductExp);
  const std::vector<LoopRV> loops = trivial.loops("C");
  const std::vector<LoopRV> rows = trivial.schedule.split(loops[0], {std::nullopt, 1});
  trivial.schedule.reorder({rows[0], loops[1], loops[2], rows[1]});
  EXPECT_TRUE(trivial.is_plain("C"));
}

TEST(SketchBlocks, AProductUnderTilesOfAnotherBlockIsNotPlain) {
  ByHand placed(kSiblings);
  const std::vector<LoopRV> tiles = placed.tile("B");
  placed.schedule.reverse_compute_at(placed.schedule.get_block("O"), tiles[1]);
  EXPECT_TRUE(placed.is_plain("A"));
  EXPECT_FALSE(placed.is_plain("O"));
  placed.schedule.compute_at(placed.schedule.get_block("A"), tiles[1]);
  EXPECT_FALSE(placed.is_plain("A"));
}

TEST(SketchBlocks, APlaceThatSearchChoosesIsNoTileOfAProduct) {
  for (uint64_t seed = 0; seed < 8; ++seed) {
    ByHand placed(kSiblings);
    const std::vector<LoopRV> tiles = placed.tile("B");
    placed.schedule.reverse_compute_at(placed.schedule.get_block("O"), tiles[1]);
    placed.schedule.reseed(RandomStream(seed));
    const BlockRV product = placed.schedule.get_block("A");
    placed.schedule.compute_at(product, placed.schedule.sample_compute_location(product));
    EXPECT_TRUE(placed.is_plain("A")) << seed;
  }
}

TEST(SketchBlocks, WhatReusesNothingIsPlainBesideANeighbourWithoutALoopInCommon) {
  ByHand apart(kRowSums);
  for (const char* name : {"E", "S", "O"}) EXPECT_TRUE(apart.is_plain(name)) << name;
  apart.schedule.compute_at(apart.schedule.get_block("S"), apart.loops("O")[0]);
  EXPECT_TRUE(apart.is_plain("E"));
  EXPECT_FALSE(apart.is_plain("S"));
  EXPECT_FALSE(apart.is_plain("O"));

  ByHand alone(R"(name: alone
inputs:
  X: {shape: [64], dtype: f32}
compute: |
  O[i<64] = exp(X[i])
outputs: [O]
)");
  EXPECT_FALSE(alone.is_plain("O")) << "there is nothing to share loops with";
}

TEST(SketchBlocks, ANeighbourThatSearchPlacesMayShareLoops) {
  ByHand placed(kRowSums);
  const BlockRV sum = placed.schedule.get_block("S");
  placed.schedule.compute_at(sum, placed.schedule.sample_compute_location(sum));
  EXPECT_TRUE(placed.is_plain("E"));
  EXPECT_FALSE(placed.is_plain("S"));
  EXPECT_FALSE(placed.is_plain("O")) << "what it reads may be computed in its loops";
}

TEST(SketchBlocks, AReductionInPartsIsNotPlain) {
  ByHand factored(kRowSums);
  const std::vector<LoopRV> parts = factored.schedule.split(factored.loops("S")[1], {std::nullopt, 8});
  const size_t begin = factored.schedule.trace().size();
  factored.schedule.rfactor(parts[1], 1);
  const std::vector<SketchStep> steps{{"add_rfactor", "S", begin, factored.schedule.trace().size()}};
  const Block* const part = factored.schedule.program().find_block("S_rf");
  ASSERT_NE(part, nullptr);
  EXPECT_FALSE(factored.is_plain("S_rf", steps));
  EXPECT_FALSE(factored.is_plain("S", steps));
  EXPECT_EQ(SketchBlocks(factored.workload.program, factored.schedule, steps).origin_of(*part), "S");
}

TEST(SketchBlocks, APartOfAProductIsAProduct) {
  ByHand factored(kProductExp);
  const std::vector<LoopRV> parts = factored.schedule.split(factored.loops("C")[2], {std::nullopt, 8});
  const size_t begin = factored.schedule.trace().size();
  factored.schedule.rfactor(parts[0], 2);
  const std::vector<SketchStep> steps{{"add_rfactor", "C", begin, factored.schedule.trace().size()}};
  EXPECT_TRUE(factored.is_plain("C_rf", steps));
  EXPECT_FALSE(factored.is_plain("C", steps)) << "it adds up what the part has found";
}

TEST(SketchBlocks, ABlockInABlockIsNotPlain) {
  ByHand inside(kProductExp);
  const std::vector<LoopRV> loops = inside.loops("C");
  inside.schedule.blockize(loops[1]);
  EXPECT_FALSE(inside.is_plain("C"));
}

TEST(BusyBlocks, AreThoseWithTheWork) {
  ByHand product(kProductExp);
  const std::vector<BusyBlock> busy = busy_blocks(product.schedule.program(), kMuchOfTheWork);
  ASSERT_EQ(busy.size(), 1U);
  EXPECT_EQ(busy[0].block->name, "C");
  EXPECT_DOUBLE_EQ(busy[0].share, 128.0 / 129.0);
  EXPECT_TRUE(busy_blocks(product.schedule.program(), 128.0 / 129.0).empty()) << "more, not as much";
}

class PlainBlocksTest : public TunerTest {
 protected:
  std::vector<PlainBlock> of(const Workload& workload, const std::string& space_name) {
    const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(space_name), registry_);
    return plain_blocks(space, workload.program, space.generate(workload.program));
  }

  std::vector<PlainBlock> of(const Workload& workload, const SketchSet& set) {
    const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry_);
    return plain_blocks(space, workload.program, set);
  }

  /// The product with rows split by `decision`, and the columns in between.
  static Schedule rows_cut(const Workload& workload, Decision decision) {
    Schedule schedule(workload.program);
    const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("C"));
    const std::vector<TraceVar> factors =
        schedule.execute(*InstructionRegistry::global().find("sample_perfect_tile"),
                         {Arg{TraceVar{loops[0]}}, Arg{int64_t{2}}, Arg{int64_t{64}}}, decision);
    const std::vector<LoopRV> rows = schedule.split(loops[0], {IntRV{factors[0]}, IntRV{factors[1]}});
    schedule.reorder({rows[0], loops[1], loops[2], rows[1]});
    return schedule;
  }

  static SketchSet set_of(Schedule sketch) {
    SketchSet set;
    set.steps.push_back({{"tiles", "C", 0, sketch.trace().size()}});
    set.sketches.push_back(std::move(sketch));
    return set;
  }
};

TEST_F(PlainBlocksTest, AreNamedWithTheReasonsOfThoseWhoDeclined) {
  const std::vector<PlainBlock> plain = of(parse(kSiblings), "cpu-paper");
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].block, "A");
  EXPECT_NEAR(plain[0].share, 96.0 / 193.0, 1e-9);
  EXPECT_EQ(plain[0].sketches, 3U);
  std::map<std::string, std::string> reasons;
  for (const PlainBlock::Declined& one : plain[0].declined) reasons[one.module] = one.reason;
  EXPECT_EQ(reasons["multi_level_tiling"],
            "reverse_compute_at: an input of the block is written after the place");
  EXPECT_EQ(reasons["auto_inline"], "the block is a reduction");
  EXPECT_EQ(reasons.size(), plain[0].declined.size());
}

TEST_F(PlainBlocksTest, AreNoneWhereAllIsTiledOrMayBe) {
  for (const char* workload : {"gmm:n=64,m=64,k=64", "softmax:m=16,n=64", "layer_norm:m=16,n=64", "relu",
                               "elementwise_chain", "dense_bias_gelu:n=16,k=32,m=32"}) {
    EXPECT_TRUE(of(WorkloadLibrary().load(workload), "cpu").empty()) << workload;
  }
}

TEST_F(PlainBlocksTest, OtherDecisionsThanThoseOfTheSketchCount) {
  const Workload product = parse(kProductExp);
  ASSERT_TRUE(SketchBlocks(product.program, rows_cut(product, {64, 1}), {})
                  .is_plain(*rows_cut(product, {64, 1}).program().find_block("C")));
  EXPECT_TRUE(of(product, set_of(rows_cut(product, {64, 1}))).empty());

  std::string prime = kProductExp;
  prime.replace(prime.find("{n: 64}"), 7, "{n: 61}");
  const Workload whole = parse(prime.c_str());
  const std::vector<PlainBlock> plain = of(whole, set_of(rows_cut(whole, {61, 1})));
  ASSERT_EQ(plain.size(), 1U) << "61 has no tiles";
  EXPECT_EQ(plain[0].block, "C");
}

TEST_F(PlainBlocksTest, AreCountedBySketches) {
  const Workload product = parse(kProductExp);
  SketchSet set = set_of(rows_cut(product, {8, 8}));
  set.sketches.emplace_back(product.program);
  set.steps.emplace_back();
  set.events.push_back({"idle", "C", ModuleResult::Status::NotApplicable, "not my day", 0, 1});
  set.events.push_back({"idle", "O", ModuleResult::Status::NotApplicable, "not here", 0, 1});
  set.events.push_back({"tiles", "C", ModuleResult::Status::Applied, "", 2, 1});
  const std::vector<PlainBlock> plain = of(product, set);
  ASSERT_EQ(plain.size(), 1U);
  EXPECT_EQ(plain[0].sketches, 1U);
  ASSERT_EQ(plain[0].declined.size(), 1U);
  EXPECT_EQ(plain[0].declined[0].reason, "not my day");
}

TEST_F(PlainBlocksTest, AreSaidBeforeAnythingIsMeasured) {
  definition_ = kSiblings;
  options_.trials = 4;
  ReplayingRunner runner;
  std::vector<std::string> said;
  TuneHooks hooks;
  hooks.left_plain = [&](std::span<const PlainBlock> blocks) {
    EXPECT_EQ(runner.runs, 0);
    for (const PlainBlock& block : blocks) said.push_back(block.block);
  };
  space_ = "cpu-paper";
  EXPECT_EQ(tune_into("siblings.db", runner, hooks).plain_blocks.size(), 1U);
  EXPECT_THAT(said, testing::ElementsAre("A"));
  EXPECT_GT(runner.runs, 0);

  definition_.clear();
  said.clear();
  ReplayingRunner other;
  EXPECT_TRUE(tune_into("gmm.db", other, hooks).plain_blocks.empty());
  EXPECT_TRUE(said.empty());
}

}  // namespace
}  // namespace tunesmith
