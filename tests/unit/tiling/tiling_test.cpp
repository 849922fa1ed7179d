// The functions that modules share, called separately over the stable interface, like by a plugin.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/stable/module.h>
#include <tunesmith/tiling/bulk_copy.h>
#include <tunesmith/tiling/group_tiles.h>
#include <tunesmith/tiling/layout.h>
#include <tunesmith/tiling/sampled_tiles.h>
#include <tunesmith/tiling/unit_intrinsics.h>
#include <tunesmith/tiling/vector_lanes.h>
#include <tunesmith/tiling/where_legal.h>

#include "api/host.h"
#include "unit/tiling/subjects.h"

namespace {

using namespace tunesmith;
using testing::HasSubstr;

using Extents = std::vector<int64_t>;

class Tiling : public testing::Test {
 protected:
  void SetUp() override { ASSERT_EQ(detail::start(&api::k_host), nullptr); }
  static Schedule of(const char* workload) { return Schedule(tunesmith_test::make_schedule(workload)); }
  static BlockRV product_of(Schedule& schedule) {
    for (const BlockFacts& block : schedule.blocks()) {
      if (block.has_reduction) return schedule.get_block(block.name);
    }
    throw InternalError("no block reduces");
  }
  static Extents extents_of(const Schedule& schedule, const std::vector<LoopRV>& loops) {
    Extents extents;
    for (const LoopRV& loop : loops) extents.push_back(schedule.facts(loop).extent);
    return extents;
  }
  /// Why the call was refused; "" if it was not.
  template <typename Call>
  static std::string refusal(const Call& call) {
    try {
      call();
      return "";
    } catch (const ScheduleError& error) {
      return error.primitive() + ": " + error.reason();
    }
  }
  static std::vector<TensorIntrinsic> unit(const Schedule& schedule, const std::vector<const char*>& names) {
    std::vector<TensorIntrinsic> all;
    for (const char* name : names) all.push_back(require_intrinsic(schedule, name));
    return all;
  }
};

TEST(TilingMaps, AreText) {
  EXPECT_EQ(index_map(axis_names(2), {"d1", "d0 // 4"}), "(d0, d1) -> (d1, d0 // 4)");
  EXPECT_EQ(projection(axis_names(3, "i"), {2, 0}), "(i0, i1, i2) -> (i2, i0)");
  EXPECT_EQ(map_to_tiles(3, {16, 8}), "(d0, d1, d2) -> (d0, d1 // 16, d2 // 8, d1 % 16, d2 % 8)");
  EXPECT_EQ(map_to_tiles(3, {64, 2, 64}),
            "(d0, d1, d2) -> (d0, d1 // 64, d2 // 128, d1 % 64, d2 % 128 // 64, d2 % 64)");
  EXPECT_EQ(map_to_panels(3, 64), "(d0, d1, d2) -> (d0, d2 // 64, d1, d2 % 64)");
}

TEST_F(Tiling, LoopsAreCutIntoTilesOfTheIntrinsic) {
  Schedule schedule = of("gmm:n=16,m=8,k=12");
  const BlockRV block = product_of(schedule);
  const TensorTile tile = tile_for_intrinsic(schedule, block, require_intrinsic(schedule, "unit_product"));
  EXPECT_EQ(extents_of(schedule, tile.outer), (Extents{4, 2, 3}));
  EXPECT_EQ(extents_of(schedule, tile.rest), (Extents{1}));
  EXPECT_EQ(schedule.facts(tile.tile).extent, 4);
  EXPECT_EQ(refusal([&] { require_intrinsic(schedule, "unit_root"); }),
            "tile_for_intrinsic: unknown tensor intrinsic");
}

TEST_F(Tiling, AVectorHasAtLeastOneLane) {
  Schedule schedule = of("gmm:n=16,m=8,k=12");
  EXPECT_EQ(vector_lanes(schedule, product_of(schedule), 512), 16);
  EXPECT_EQ(vector_lanes(kF64, 256), 4);
  EXPECT_EQ(vector_lanes(kF64, 32), 1);
}

TEST_F(Tiling, WhatIsNotLegalIsLeftOutAndMisuseIsNot) {
  Schedule schedule = of("gmm:n=16,m=8,k=12");
  const std::vector<LoopRV> loops = schedule.get_loops(product_of(schedule));
  EXPECT_FALSE(where_legal(schedule, [&](Schedule& tried) { tried.parallel(loops.back()); }));
  EXPECT_EQ(schedule.facts(loops.back()).kind, LoopKind::Serial);
  EXPECT_TRUE(where_legal(schedule, [&](Schedule& tried) { tried.parallel(loops.front()); }));
  // An instruction with too few arguments is wrong for every program.
  EXPECT_THROW(where_legal(schedule, [](Schedule& tried) { tried.call("parallel"); }), ScheduleMisuse);
}

TEST_F(Tiling, WeightsNeedNotSumUpToOne) {
  Schedule schedule = of("gmm:n=16,m=8,k=12");
  const int64_t drawn = schedule.value(sample_weighted(schedule, {3, 5}, {0.0, 7.0}));
  EXPECT_EQ(drawn, 5);
}

TEST_F(Tiling, BlocksWithTooFewLoopsAreRefused) {
  Schedule schedule = of("reduce_sum_1d:n=16");
  const BlockRV block = product_of(schedule);
  const TensorIntrinsic product = require_intrinsic(schedule, "unit_product");
  EXPECT_EQ(refusal([&] { tile_for_intrinsic(schedule, block, product); }),
            "tile_for_intrinsic: the block has fewer loops than the intrinsic");
}

TEST_F(Tiling, WhatTilesDoNotDivideIsPadded) {
  Schedule even = of("gmm:n=16,m=8,k=12");
  EXPECT_TRUE(pad_for_tile(even, product_of(even), {4, 4}, {4}).empty());
  EXPECT_EQ(even.blocks().size(), 1U);
  Schedule odd = of("gmm:n=15,m=8,k=12");
  const BlockRV block = product_of(odd);
  const ProductPadding padding = pad_product(odd, block, require_intrinsic(odd, "unit_product"));
  EXPECT_FALSE(padding.copies.empty());
  EXPECT_TRUE(padding.of_result);
  EXPECT_EQ(odd.block(block).iters()[1].extent, 16);
}

TEST_F(Tiling, AConvolutionIsBroughtToTheFormOfAProduct) {
  Schedule plain = of("gmm:n=16,m=8,k=12");
  const MatrixForm as_it_is = bring_to_matrix_form(plain, product_of(plain));
  EXPECT_TRUE(as_it_is.copies.empty());
  EXPECT_FALSE(as_it_is.result);
  EXPECT_EQ(as_it_is.reduction_last, (std::array<bool, 2>{true, false}));
  Schedule schedule = of("conv2d:h=4,w=4,ci=4,co=8,kernel=3");
  const BlockRV block = product_of(schedule);
  const MatrixForm form = bring_to_matrix_form(schedule, block);
  EXPECT_FALSE(form.copies.empty());
  EXPECT_TRUE(form.result);
  EXPECT_EQ(schedule.block(block).iters().size(), 3U);
  EXPECT_EQ(map_of_factor(schedule, block, 1, false), "(d0, d1, d2) -> (d2, d1)");
  EXPECT_EQ(map_of_result(schedule, block), "(d0, d1, d2) -> (d0, d1)");
  Schedule depthwise = of("depthwise_conv2d:h=4,w=4,c=4,kernel=3");
  const BlockRV other = product_of(depthwise);
  EXPECT_THAT(refusal([&] { bring_to_matrix_form(depthwise, other); }),
              HasSubstr("a factor has no axis of its own"));
}

TEST_F(Tiling, IntrinsicsAreChosenByTypesAndByOrder) {
  const Schedule schedule = of("gmm:n=16,m=8,k=12");
  const std::vector<TensorIntrinsic> all = unit(
      schedule,
      {"unit_load_a", "unit_load_b", "unit_load_b_exchanged", "unit_zero", "unit_product", "unit_store"});
  const ProductTypes types{kF32, {kF32, kF32}};
  const auto straight = choose_intrinsics(all, types, {true, false}, "held", "near");
  ASSERT_TRUE(straight);
  EXPECT_EQ(straight->product->name, "unit_product");
  EXPECT_EQ(straight->loads[0]->name, "unit_load_a");
  EXPECT_EQ(straight->loads[1]->name, "unit_load_b");
  EXPECT_EQ(straight->zero->name, "unit_zero");
  EXPECT_EQ(straight->store->name, "unit_store");
  const auto exchanged = choose_intrinsics(all, types, {true, true}, "held", "near");
  ASSERT_TRUE(exchanged);
  EXPECT_EQ(exchanged->loads[1]->name, "unit_load_b_exchanged");
  // No intrinsic loads A in the other order, so the first that loads it is chosen.
  EXPECT_EQ(choose_intrinsics(all, types, {false, false}, "held", "near")->loads[0]->name, "unit_load_a");
  EXPECT_FALSE(choose_intrinsics(all, {kF16, {kF32, kF32}}, {true, false}, "held", "near"));
  EXPECT_FALSE(choose_intrinsics(all, types, {true, false}, "held", "elsewhere"));
  EXPECT_FALSE(
      choose_intrinsics(unit(schedule, {"unit_product", "unit_zero"}), types, {true, false}, "held", "near"));
}

TEST_F(Tiling, ProductsAreSharedOutOverGroups) {
  Schedule schedule = of("gmm:n=32,m=16,k=24");
  const BlockRV block = product_of(schedule);
  const MatrixForm form = bring_to_matrix_form(schedule, block);
  const TensorIntrinsic product = require_intrinsic(schedule, "unit_product");
  const BlockRV result = result_writer(schedule, block, form, false, "global");
  const BlockRV copy = copy_factor(schedule, block, form, 1, "global", {false, true, true});
  EXPECT_EQ(schedule.writes_of(copy).front().buffer->shape, (Extents{1, 16, 24}));
  GroupTiles tiles = tile_for_groups(schedule, block, product, 2);
  const auto whole = [&](const std::vector<LoopRV>& loops) {
    int64_t all = 1;
    for (const int64_t extent : extents_of(schedule, loops)) all *= extent;
    return all;
  };
  EXPECT_EQ(tiles.rows.loops.size(), 3U);
  EXPECT_EQ(whole(tiles.rows.loops), 8);
  EXPECT_EQ(whole(tiles.columns.loops), 4);
  EXPECT_LE(schedule.value(tiles.rows.factors[2]), 2);
  cut_steps(schedule, tiles, 2);
  EXPECT_EQ(whole(tiles.steps.loops), 6);
  schedule.compute_at(copy, tiles.steps.loops[0]);
  schedule.reverse_compute_at(result, tiles.columns.loops[0]);
  EXPECT_EQ(schedule.loops_of(block).size(), 1U + 3U + 3U + 2U + 3U);
  EXPECT_EQ(schedule.loops_of(result)[1].extent, schedule.facts(tiles.rows.loops[0]).extent);
}

TEST_F(Tiling, ABulkCopyNeedsOneThatDivides) {
  Schedule schedule = of("gmm:n=16,m=8,k=12");
  const BlockRV copy = schedule.cache_read(product_of(schedule), 0, "global");
  EXPECT_EQ(refusal([&] { tensorize_bulk_copy(schedule, copy, unit(schedule, {"unit_load_a"})); }),
            "tensorize_bulk_copy: no bulk copy has a tile that divides what is fetched");
}

TEST_F(Tiling, OneOfAListIsDrawn) {
  Schedule schedule = of("gmm:n=16,m=8,k=12");
  const Extents choices{3, 5, 7};
  EXPECT_THAT(choices, testing::Contains(schedule.value(sample_one_of(schedule, choices))));
}

}  // namespace
