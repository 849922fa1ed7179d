// All threads of a block copy a tile's operands to shared memory, like a tiling module's programs for a
// product with extents that the threads do not divide.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/verification/interpreter.h"
#include "unit/grid/grid_machine.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using namespace test;

enum class CopyOrder { ThreadsOutermost, ThreadsInside };

/// The factors of a product's loops, without the innermost: blocks, a thread's separate tiles, threads, and
/// two tiles of a thread; for the reduction two outer tiles.
struct Cut {
  int64_t rows[4];
  int64_t columns[4];
  int64_t reduction[2];
  int64_t width = 1;  // elements that a thread copies at once
  CopyOrder order = CopyOrder::ThreadsOutermost;

  int64_t threads() const { return rows[2] * columns[2]; }
};

std::vector<std::optional<IntArg>> open_ended(std::span<const int64_t> factors) {
  std::vector<std::optional<IntArg>> all(factors.begin(), factors.end());
  all.emplace_back(std::nullopt);
  return all;
}

void fetch_together(Schedule& s, BlockRV copy, LoopRV at, const Cut& cut) {
  s.compute_at(copy, at);
  const std::vector<LoopRV> around = s.get_loops(copy);
  const LoopRV all = s.fuse({around.end() - 2, around.end()});
  const std::vector<LoopRV> parts = s.split(all, {std::nullopt, cut.threads(), cut.width});
  if (cut.order == CopyOrder::ThreadsOutermost) s.reorder({parts[1], parts[0], parts[2]});
  s.bind(parts[1], "thread.x");
}

Schedule tiled_product(int64_t n, int64_t m, int64_t depth, const Cut& cut) {
  Schedule s(gmm(n, m, depth));
  const BlockRV product = s.get_block("O");
  const BlockRV writer = s.cache_write(product, 0, "local");
  const std::vector<BlockRV> copies = {s.cache_read(product, 0, "shared"),
                                       s.cache_read(product, 1, "shared")};
  const std::vector<LoopRV> loops = s.get_loops(product);
  const std::vector<LoopRV> i = s.split(loops[0], open_ended(cut.rows));
  const std::vector<LoopRV> j = s.split(loops[1], open_ended(cut.columns));
  const std::vector<LoopRV> k = s.split(loops[2], open_ended(cut.reduction));
  s.reorder({i[0], j[0], k[0], i[2], j[2], k[1], i[1], j[1], i[3], j[3], k[2], i[4], j[4]});
  const std::vector<LoopRV> out = s.get_loops(writer);
  const std::vector<LoopRV> y = s.split(out[0], open_ended(std::span(cut.rows).first(3)));
  const std::vector<LoopRV> x = s.split(out[1], open_ended(std::span(cut.columns).first(3)));
  s.reorder({y[0], x[0], y[2], x[2], y[1], x[1], y[3], x[3]});
  s.merge({j[0], x[0]});
  s.bind(s.fuse({i[0], j[0]}), "block.x");
  s.bind(s.fuse({i[2], j[2]}), "thread.x");
  s.bind(s.fuse({y[2], x[2]}), "thread.x");
  for (const BlockRV& copy : copies) fetch_together(s, copy, k[0], cut);
  s.decompose_reduction(product, k[0]);
  return s;
}

const Cut kUneven{{2, 2, 3, 1}, {1, 1, 5, 2}, {3, 1}, 2};

TEST(CooperativeFetch, SharesOutWhatTheThreadsDoNotDivide) {
  for (const Cut& cut :
       {kUneven, Cut{{1, 1, 2, 3}, {2, 1, 4, 1}, {2, 3}, 1}, Cut{{2, 1, 1, 1}, {2, 1, 10, 1}, {1, 2}, 3}}) {
    const Schedule s = tiled_product(12, 40, 12, cut);
    expect_same_after_every_step(s.program());
    // Without a loop of tiles nothing is fetched twice.
    EXPECT_EQ(collect<Barrier>(lowered_for_grid(s.program()).program.root()).size(),
              cut.reduction[0] > 1 ? 2u : 1u);
  }
}

TEST(CooperativeFetch, ThreadsMayStandInsideTheCopysLoop) {
  Cut cut = kUneven;
  cut.order = CopyOrder::ThreadsInside;
  expect_same_after_every_step(tiled_product(12, 20, 9, cut).program());
}

TEST(CooperativeFetch, EachBarrierIsNeeded) {
  const Schedule s = tiled_product(12, 20, 9, kUneven);
  const size_t barriers = collect<Barrier>(lowered_for_grid(s.program()).program.root()).size();
  for (size_t left_out = 0; left_out < barriers; ++left_out) {
    LoweredProgram wrong = lowered_for_grid(s.program());
    replace(*collect<Barrier>(wrong.program.root())[left_out], nullptr);
    std::vector<Tensor> arguments = random_arguments(wrong.program);
    EXPECT_THROW(interpret(wrong, arguments), InterpreterError) << left_out;
  }
}

TEST(CooperativeFetch, AThreadKeepsNothingBetweenItsTilesThatLieApart) {
  const Cut cut{
      {1, 2, 3, 1}, {1, 2, 2, 5}, {3, 1}, 2};  // 2 x 2 tiles of 2 x 5 elements, between those of others
  const Schedule s = tiled_product(12, 20, 9, cut);
  const std::string text = to_string(lowered_for_grid(s.program(), "close_gaps").program);
  EXPECT_THAT(text, testing::HasSubstr("alloc O_local: f32[4, 10] local"));
  expect_same_after_every_step(s.program());
}

}  // namespace
}  // namespace tunesmith
