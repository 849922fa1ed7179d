// What the analytical model must see: differences that decide which program is the faster one.
#include <algorithm>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "analytical/estimate.h"
#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

using analytical::estimate_cycles;

/// A product of 64 x 16 results over 512 rows of B, which is `width` wide; `rows` rows of results at once.
Program product(int64_t width, int64_t rows) {
  Schedule s(test::program_of(
      fmt::format("A: {{shape: [64, 512], dtype: f32}}, B: {{shape: [512, {}], dtype: f32}}", width),
      "O[i<64, j<16] = sum(k<512) A[i, k] * B[k, j]"));
  const BlockRV block = s.get_block("O");
  const std::vector<LoopRV> loops = s.get_loops(block);
  const std::vector<LoopRV> tiles = s.split(loops[0], {std::nullopt, IntArg{rows}});
  s.reorder({tiles[0], loops[2], tiles[1], loops[1]});
  s.decompose_reduction(block, loops[2]);
  s.vectorize(loops[1]);
  s.unroll(tiles[1]);
  return s.program().clone();
}

double cycles(const Program& program) {
  LowerOptions options;
  options.vector_bits = 512;
  options.vector_registers = 32;
  DeviceModel device;
  device.set("cores", 1);
  device.set("vector_bits", 512);
  device.set("vector_registers", 32);
  device.set("cache_line_bytes", 64);
  device.set("l1_bytes", 32768);
  device.set("l1_way_bytes", 4096);
  device.set("l2_bytes", 1 << 20);
  device.set("l2_way_bytes", 65536);
  return estimate_cycles(extract_features(lower(program, options).program, device),
                         analytical::machine_from(device));
}

TEST(Analytical, AWalkThatFallsOnFewSetsOfACacheIsDearer) {
  EXPECT_GT(cycles(product(1024, 8)), 1.1 * cycles(product(1040, 8)))
      << "512 lines a page apart do not stay in a first level of 12 ways, though they are 32 KiB";
  EXPECT_NEAR(cycles(product(1040, 8)), cycles(product(1072, 8)), 1.0);
}

/// A sum over nine taps for 64 elements, with a separate initialisation.
double window(const std::string& length, const std::string& tap) {
  Schedule s(
      test::program_of(fmt::format("X: {{shape: [{}], dtype: f32}}, W: {{shape: [9], dtype: f32}}", length),
                       fmt::format("O[i<64] = sum(k<9) {} * W[k]", tap)));
  const BlockRV block = s.get_block("O");
  s.decompose_reduction(block, s.get_loops(block)[1]);
  return cycles(s.program().clone());
}

TEST(Analytical, ALoopWhoseRangeDependsOnOthersCounts) {
  EXPECT_NEAR(window("64", "inside(X[i + k - 4], 0)") / window("72", "X[i + k]"), 1.0, 0.2)
      << "taps on padding are skipped by a range of k that i decides";
}

TEST(Analytical, AccumulatorsThatAreTooFewWaitForEachOther) {
  EXPECT_GT(cycles(product(1040, 1)), 2 * cycles(product(1040, 8)));
}

/// A store that executes a thousand times on vectors of the machine's width, with this besides.
analytical::StoreCycles store_with(const std::vector<std::pair<const char*, float>>& numbers) {
  std::vector<float> row(feature_columns().size());
  const auto set = [&row](const char* name, float value) { row[feature_index(name)] = value; };
  for (const char* name : {"vector_fill", "chains", "chain_length"}) set(name, 1.0F);
  set("executions", 1000.0F);
  set("lanes", 16.0F);
  set("memory_instructions", 2000.0F);
  for (const auto& [name, value] : numbers) set(name, value);
  analytical::Machine machine;
  machine.vector_registers = 32;
  return analytical::estimate_store(row, machine);
}

TEST(Analytical, MasksAndGathersCost) {
  const double plain = store_with({}).compute;
  EXPECT_EQ(store_with({{"store_masked", 1.0F}}).compute, plain + 1000.0);
  EXPECT_EQ(store_with({{"loads_masked", 2.0F}}).compute, plain + 2000.0);
  EXPECT_EQ(store_with({{"loads_gathered", 1.0F}}).compute, plain + 16000.0) << "each element is a load";
}

TEST(Analytical, EachAccumulatorWithoutARegisterCosts) {
  const auto with = [](float chains) {
    return store_with({{"accumulates", 1.0F}, {"accumulates_in_registers", 1.0F}, {"chains", chains}})
        .compute;
  };
  EXPECT_EQ(with(28.0F), with(29.0F));
  EXPECT_NEAR(with(32.0F) - with(29.0F), 3.0 * 1000.0 * 3.0 / 32.0, 1e-6);
}

TEST(Analytical, TrafficInManyPiecesIsDearerAndInstructionsHideSomeOfIt) {
  const analytical::StoreCycles one = store_with({{"memory_l1_traffic", 1e5F}, {"memory_l1_runs", 1.0F}});
  const analytical::StoreCycles many = store_with({{"memory_l1_traffic", 1e5F}, {"memory_l1_runs", 1e3F}});
  EXPECT_GT(many.l2, 1.1 * one.l2);
  EXPECT_LT(many.total(), many.compute + many.loops + many.l2);
  EXPECT_GT(many.total(), std::max(many.compute + many.loops, many.l2));
}

TEST(Analytical, ATileBeyondTheRegistersIsDearer) {
  // The factor is small: in tables, some of the fastest programs have as many accumulators as registers.
  EXPECT_GT(cycles(product(1040, 32)), 1.3 * cycles(product(1040, 16)));
}

}  // namespace
}  // namespace tunesmith
