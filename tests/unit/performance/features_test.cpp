// Compares rows of features with numbers computed by hand.
#include "tunesmith/performance/features.h"

#include <algorithm>
#include <array>

#include <gtest/gtest.h>

#include "unit/lower/run_passes.h"

namespace tunesmith {
namespace {

DeviceModel small_device() {
  DeviceModel device;
  device.set("cores", 4);
  device.set("vector_bits", 256);
  device.set("vector_registers", 16);
  device.set("cache_line_bytes", 64);
  device.set("l1_bytes", 1024);
  device.set("l2_bytes", 1 << 20);
  return device;
}

/// The n-th row of the lowered program, by the columns' names.
class Row {
 public:
  Row(const Program& lowered, size_t n, const DeviceModel& device = small_device())
      : rows_(extract_features(lowered, device)), n_(n) {}
  double operator[](const std::string& name) const {
    const auto& columns = feature_columns();
    const auto found = std::ranges::find(columns, name, &FeatureColumn::name);
    EXPECT_NE(found, columns.end()) << name;
    return rows_.row(n_)[static_cast<size_t>(found - columns.begin())];
  }
  size_t rows() const { return rows_.rows(); }

 private:
  FeatureRows rows_;
  size_t n_;
};

Program lowered(const Program& program) {
  LowerOptions options;
  options.vector_bits = 256;
  options.vector_registers = 16;
  return lower(program, options).program;
}

TEST(Features, ColumnsHaveNamesOfTheirOwnUnitsAndMeanings) {
  std::vector<std::string> names;
  for (const FeatureColumn& column : feature_columns()) {
    EXPECT_FALSE(column.unit.empty()) << column.name;
    EXPECT_FALSE(column.meaning.empty()) << column.name;
    names.push_back(column.name);
  }
  std::ranges::sort(names);
  EXPECT_EQ(std::ranges::adjacent_find(names), names.end());
}

/// O[y] += P[k] * W[(y + 1) % 2, k] for k < 64 and, unrolled inside, y < `rows`, like the weights of a
/// transposed convolution.
Program rows_of_two_weights(int64_t rows) {
  Program program;
  program.name = "rows";
  const Buffer p = make_buffer("P", kF32, {64});
  const Buffer w = make_buffer("W", kF32, {128});
  const Buffer o = make_buffer("O", kF32, {rows});
  program.inputs = {p, w};
  program.outputs = {o};
  const Var k("k"), y("y");
  const Expr weight = load(w, {floormod(y + 1, 2) * 64 + k});
  auto loop = program.make_loop(
      y, rows, std::make_unique<Store>(o, std::vector<Expr>{y}, load(o, {y}) + load(p, {k}) * weight));
  loop->loop_kind = LoopKind::Unrolled;
  program.root().append(program.make_loop(k, 64, std::move(loop)));
  return program;
}

TEST(Features, ARemainderComesBackToItsPlaces) {
  const Program program = rows_of_two_weights(8);
  const Row sum(program, 0);
  EXPECT_EQ(sum["memory_instructions"], 2 * 8 + 64 + 2 * 64) << "O stays in registers, W has two rows";
  EXPECT_EQ(sum["accumulates_in_registers"], 1);
}

TEST(Features, MoreAccumulatorsThanRegistersAreLoadedAndStored) {
  DeviceModel device = small_device();
  device.set("vector_registers", 7);
  const Row sum(rows_of_two_weights(8), 0, device);
  EXPECT_EQ(sum["memory_instructions"], 2 * 8 * 64 + 64 + 2 * 64);
  EXPECT_EQ(sum["accumulates_in_registers"], 0);
}

/// O[i<4, j<8] = sum(k<16) A[i, k] * B[k, j], with a separate initialisation; i and j serial, k innermost.
Program tiny_product() {
  Schedule s(test::gmm(4, 8, 16));
  const BlockRV block = s.get_block("O");
  s.decompose_reduction(block, s.get_loops(block)[0]);
  return test::lowered_to(s.program(), test::Pass::Flatten);
}

TEST(Features, ATinyMatrixProduct) {
  const Program program = tiny_product();
  const Row init(program, 0);
  ASSERT_EQ(init.rows(), 2U) << to_string(program);
  EXPECT_EQ(init["executions"], 32);
  EXPECT_EQ(init["arithmetic"], 0);
  EXPECT_EQ(init["accumulates"], 0);
  EXPECT_EQ(init["buffer0_unique_bytes"], 128);
  EXPECT_EQ(init["buffer0_unique_lines"], 2);
  EXPECT_EQ(init["buffer0_reuse_by_statement"], 1) << "the sum reads it";

  const Row sum(program, 1);
  EXPECT_EQ(sum["executions"], 512);
  EXPECT_EQ(sum["depth"], 3);
  EXPECT_EQ(sum["serial_loops"], 3);
  EXPECT_EQ(sum["serial_spatial"], 32);
  EXPECT_EQ(sum["serial_reduction"], 16);
  EXPECT_EQ(sum["inner_trips_1"], 16);
  EXPECT_EQ(sum["inner_trips_2"], 8);
  EXPECT_EQ(sum["inner_trips_3"], 4);
  EXPECT_EQ(sum["inner_is_reduction"], 1);
  EXPECT_EQ(sum["accumulates"], 1);
  EXPECT_EQ(sum["float_fma"], 512);
  EXPECT_EQ(sum["float_mul"], 0);
  EXPECT_EQ(sum["float_add"], 0);
  EXPECT_EQ(sum["on_f32"], 512);
  EXPECT_EQ(sum["arithmetic"], 1024);
  EXPECT_EQ(sum["arithmetic_per_execution"], 2);
  EXPECT_EQ(sum["buffers"], 3);
}

TEST(Features, AccessesOfATinyMatrixProduct) {
  const Row sum(tiny_product(), 1);
  // O: loaded and stored in all 512 executions, 32 elements of 4 bytes.
  EXPECT_EQ(sum["buffer0_reads"], 1);
  EXPECT_EQ(sum["buffer0_writes"], 1);
  EXPECT_EQ(sum["buffer0_bytes"], 512 * 2 * 4);
  EXPECT_EQ(sum["buffer0_unique_bytes"], 128);
  EXPECT_EQ(sum["buffer0_instructions"], 32 * 2) << "once for each i and j: k leaves it in a register";
  EXPECT_EQ(sum["buffer0_reuse_by_loop"], 1);
  EXPECT_EQ(sum["buffer0_reuse_iterations"], 1);
  EXPECT_EQ(sum["buffer0_reuse_count"], 16);
  // A: 4 x 16; j reuses a row after 16 iterations.
  EXPECT_EQ(sum["buffer1_unique_bytes"], 256);
  EXPECT_EQ(sum["buffer1_unique_lines"], 4);
  EXPECT_EQ(sum["buffer1_stride"], 1);
  EXPECT_EQ(sum["buffer1_reuse_iterations"], 16);
  EXPECT_EQ(sum["buffer1_reuse_bytes"], 4 + 64 + 16 * 4) << "an element of O, a row of A, a column of B";
  EXPECT_EQ(sum["buffer1_reuse_count"], 8);
  // B: 16 x 8, read column by column; i reuses it after 8 * 16 iterations.
  EXPECT_EQ(sum["buffer2_unique_bytes"], 512);
  EXPECT_EQ(sum["buffer2_stride"], 8);
  EXPECT_EQ(sum["buffer2_reuse_iterations"], 128);
  EXPECT_EQ(sum["buffer2_reuse_bytes"], 32 + 64 + 512);
  EXPECT_EQ(sum["buffer2_reuse_count"], 4);
  EXPECT_EQ(sum["buffer3_bytes"], 0);
  // Everything fits the first cache, which loads it once, in whole lines.
  EXPECT_EQ(sum["buffer1_l1_traffic"], 256);
  EXPECT_EQ(sum["buffer2_l1_traffic"], 512);
  // Intensity: 2 operations on 12 bytes in one execution, 1024 on 896 in all.
  EXPECT_FLOAT_EQ(sum["intensity_0"], 2.0F / 12.0F);
  EXPECT_FLOAT_EQ(sum["intensity_9"], 1024.0F / 896.0F);
}

// O[i<1024] = X[i] * 2 + 1: 8 chunks in parallel, in each 4 unrolled vectors of 8 lanes, 4 times.
TEST(Features, AVectorizedElementwiseProgram) {
  Schedule s(test::program_of("X: {shape: [1024], dtype: f32}", "O[i<1024] = X[i] * 2 + 1"));
  const BlockRV block = s.get_block("O");
  const std::vector<LoopRV> loops =
      s.split(s.get_loops(block)[0], {IntArg{8}, IntArg{4}, IntArg{4}, IntArg{8}});
  s.parallel(loops[0]);
  s.unroll(loops[2]);
  s.vectorize(loops[3]);
  const Program program = lowered(s.program());
  const Row row(program, 0);
  ASSERT_EQ(row.rows(), 1U) << to_string(program);
  EXPECT_EQ(row["executions"], 128);
  EXPECT_EQ(row["lanes"], 8);
  EXPECT_EQ(row["vector_fill"], 1);
  EXPECT_EQ(row["float_fma"], 1024);
  EXPECT_EQ(row["vector_operations"], 128);
  EXPECT_EQ(row["parallel_product"], 8);
  EXPECT_EQ(row["parallel_inside"], 16);
  EXPECT_EQ(row["parallel_imbalance"], 1);
  EXPECT_EQ(row["executions_busiest_core"], 32);
  EXPECT_EQ(row["unrolled_product"], 4);
  EXPECT_EQ(row["unrolled_spatial"], 4);
  EXPECT_EQ(row["unrolled_reduction"], 1);
  EXPECT_EQ(row["unrolled_inside"], 1);
  EXPECT_EQ(row["serial_product"], 4);
  EXPECT_EQ(row["inner_trips_1"], 4);
  EXPECT_EQ(row["inner_trips_2"], 8);
  EXPECT_EQ(row["inner_trips_3"], 0);
  EXPECT_EQ(row["accumulates"], 0);
  EXPECT_EQ(row["chains"], 4);
  EXPECT_EQ(row["register_share"], 0.25);
  EXPECT_EQ(row["buffer0_unique_bytes"], 4096);
  EXPECT_EQ(row["buffer1_bytes"], 4096);
  EXPECT_EQ(row["buffer1_unique_lines"], 64);
  EXPECT_EQ(row["buffer1_instructions"], 128);
  EXPECT_EQ(row["buffer1_contiguous"], 1);
  EXPECT_EQ(row["buffer1_reuse_by_loop"], 0);
  EXPECT_EQ(row["memory_l1_traffic"], 8192);
  EXPECT_FLOAT_EQ(row["intensity_9"], 2048.0F / 8192.0F);
}

// A window of 3 that slides over 10 elements touches 10, not 8 * 3.
TEST(Features, WindowsThatOverlapAreTouchedOnce) {
  Schedule s(test::program_of("X: {shape: [10], dtype: f32}", "O[i<8] = sum(k<3) X[i + k]"));
  const BlockRV block = s.get_block("O");
  s.decompose_reduction(block, s.get_loops(block)[1]);
  const Row row(test::lowered_to(s.program(), test::Pass::Flatten), 1);
  EXPECT_EQ(row["buffer1_bytes"], 8 * 3 * 4);
  EXPECT_EQ(row["buffer1_unique_bytes"], 10 * 4);
}

// 64 rows of one line each, which lie a page apart or not, and which every column reads again.
double traffic_of_a_walk(int64_t width) {
  Schedule s(test::program_of(fmt::format("X: {{shape: [64, {}], dtype: f32}}", width),
                              "O[j<16, i<64] = X[i, j] * 2"));
  DeviceModel device = small_device();
  device.set("l1_bytes", 16384);
  device.set("l1_way_bytes", 4096);
  const Row row(test::lowered_to(s.program(), test::Pass::Flatten), 0, device);
  return row["buffer1_l1_traffic"];
}

TEST(Features, AWalkByAStepOfAWayTakesTheSetsBetween) {
  EXPECT_EQ(traffic_of_a_walk(1040), 64 * 64) << "64 lines fit, and come once";
  EXPECT_EQ(traffic_of_a_walk(1024), 16 * 64 * 64) << "they fall on one set, and come for each column";
}

// The sums of 64 rows of 4096 bytes, initialised in one pass over O, or each before its sum.
TEST(Features, WhatAnEarlierStatementLeftInACacheDoesNotComeAgain) {
  const auto update = [](bool beside, bool parallel) {
    Schedule s(test::program_of("X: {shape: [64, 1024], dtype: f32}", "O[i<64] = sum(k<1024) X[i, k]"));
    const BlockRV block = s.get_block("O");
    const std::vector<LoopRV> loops = s.get_loops(block);
    if (parallel) s.parallel(loops[0]);
    s.decompose_reduction(block, loops[beside ? 1 : 0]);
    DeviceModel device = small_device();
    device.set("l1_bytes", 8192);
    device.set("l2_bytes", 65536);
    const Row row(test::lowered_to(s.program(), test::Pass::Flatten), 1, device);
    return std::array{row["buffer1_l1_traffic"], row["buffer0_l1_traffic"], row["memory_l1_runs"],
                      row["buffer0_l2_traffic"]};
  };
  constexpr double kRows = 64 * 4096;
  EXPECT_EQ(update(true, false), (std::array{kRows, 0.0, 64.0, 0.0})) << "X alone, a row at a time";
  EXPECT_EQ(update(true, true), update(true, false)) << "a core does both";
  const auto apart = update(false, false);
  EXPECT_EQ(apart[0], kRows);
  EXPECT_GT(apart[1], 0.0) << "with all of X between, O is gone from the first cache";
}

// B of 64 x 64 elements, by four cores, and O = B + B.
TEST(Features, WhatAnotherCoreWroteIsTold) {
  const auto reading = [](int written_by, int read_by) {
    Schedule s(test::program_of("X: {shape: [64, 64], dtype: f32}",
                                "B[i<64, j<64] = X[i, j] * 2\n  O[i<64, j<64] = B[i, j] + B[i, j]"));
    if (written_by >= 0) s.parallel(s.get_loops(s.get_block("B"))[static_cast<size_t>(written_by)]);
    if (read_by >= 0) s.parallel(s.get_loops(s.get_block("O"))[static_cast<size_t>(read_by)]);
    const Row row(test::lowered_to(s.program(), test::Pass::Flatten), 1);
    return std::array{row["memory_other_core_traffic"], row["memory_l2_traffic"]};
  };
  constexpr double kBytes = 64 * 64 * 4;
  constexpr double kNear = kBytes / 16;  // the feature is estimated from 16 points
  EXPECT_EQ(reading(0, 0), (std::array{0.0, kBytes})) << "each core finds its own rows, and writes new ones";
  EXPECT_EQ(reading(-1, -1), reading(0, 0)) << "there is but one";
  const auto [elsewhere, beyond] = reading(0, 1);
  EXPECT_NEAR(elsewhere, 0.75 * kBytes, kNear) << "columns of four cores' rows";
  EXPECT_EQ(beyond, kBytes + elsewhere);
  EXPECT_NEAR(reading(1, 0)[0], 0.75 * kBytes, kNear);
  EXPECT_NEAR(reading(-1, 0)[0], 0.75 * kBytes, kNear) << "the first core wrote all of it";
}

TEST(Features, AParallelLoopIsLaunchedOnceForAllItsStores) {
  Schedule s(test::program_of("X: {shape: [4, 8], dtype: f32}", "O[i<4] = sum(k<8) X[i, k]"));
  s.parallel(s.get_loops(s.get_block("O"))[0]);
  const Program program = test::lowered_to(s.program(), test::Pass::Flatten);
  const Row init(program, 0);
  ASSERT_EQ(init.rows(), 2U) << to_string(program);
  EXPECT_EQ(init["launches"], 1);
  EXPECT_EQ(Row(program, 1)["launches"], 0);
}

TEST(Features, QuotientsByOneValueAreTold) {
  Schedule s(
      test::program_of("X: {shape: [64], dtype: f32}, Y: {shape: [1], dtype: f32}", "O[i<64] = X[i] / Y[0]"));
  s.vectorize(s.split(s.get_loops(s.get_block("O"))[0], {std::nullopt, IntArg{8}})[1]);
  const Row row(lowered(s.program()), 0);
  EXPECT_EQ(row["float_div"], 64);
  EXPECT_EQ(row["div_by_one_value"], 64);
}

TEST(Features, WhatTheMachineDoesNotSayIsZero) {
  const Program program = lowered(test::gmm(4, 8, 16));
  const Row row(program, 0, DeviceModel());
  EXPECT_EQ(row["cores"], 0);
  EXPECT_EQ(row["vector_fill"], 0);
  EXPECT_EQ(row["memory_l1_traffic"], 0);
  EXPECT_EQ(row["buffer0_unique_lines"], 0);
  EXPECT_GT(row["executions"], 0);
}

TEST(Features, EqualProgramsHaveEqualRows) {
  const Program program = lowered(test::gmm(32, 48, 64));
  EXPECT_EQ(extract_features(program, small_device()),
            extract_features(lowered(test::gmm(32, 48, 64)), small_device()));
}

}  // namespace
}  // namespace tunesmith
