// What parts of a block do without the others: barriers of some warps, registers that warpgroups give one
// another; and the order in which blocks take tiles.
#include <algorithm>
#include <numeric>
#include <string>
#include <tuple>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulation_run.h"

namespace tunesmith::testing {
namespace {

using ::testing::HasSubstr;

/// What is found in a kernel of one block; `t` is the thread.
std::string found_in(const std::string& body, unsigned threads) {
  const std::string text = fmt::format(
      "#include \"tunesmith_device.cuh\"\nextern \"C\" __global__ void __launch_bounds__({}, 1) test(int* "
      "out) "
      "{{\n  const int t = threadIdx.x;\n{}\n}}\n",
      threads, body);
  std::vector<cuda::EmulatedArgument> arguments{output("out", 4 * size_t{threads})};
  const cuda::EmulationReport report = run_text(text, arguments, threads);
  return report.clean() ? "" : report.text();
}

TEST(GroupBarrier, OrdersTheWarpsThatMeet) {
  const std::string two = "__shared__ int s[64]; if (t >= 64) return; s[t] = t; ";
  EXPECT_EQ(found_in(two + "group_barrier<1, 64>(); out[t] = s[63 - t];", 96), "");
  EXPECT_THAT(found_in(two + "out[t] = s[63 - t];", 96), HasSubstr("race"));
  EXPECT_THAT(found_in(two + "if (t < 32) group_barrier<1, 32>(); out[t] = s[63 - t];", 96),
              HasSubstr("race"));
  EXPECT_THAT(found_in(two + "if (t < 32) group_barrier<1, 64>(); out[t] = s[63 - t];", 96),
              HasSubstr("deadlock"));
  EXPECT_THAT(found_in(two + "if (t < 32) group_barrier<1, 64>(); else group_barrier<1, 32>();", 96),
              HasSubstr("divergent_barrier"));
  EXPECT_THAT(found_in(two + "group_barrier<16, 64>();", 96), HasSubstr("bad_operand"));
}

TEST(Registers, AreThoseOfTheLaunch) {
  const auto moved = [](int down, int up) {
    return fmt::format("if (t < 128) {{ reg_dealloc<{}>(); return; }} reg_alloc<{}>(); out[t] = t;", down,
                       up);
  };
  EXPECT_EQ(found_in(moved(40, 232), 384), "");
  EXPECT_THAT(found_in(moved(40, 240), 384), HasSubstr("deadlock"));
  EXPECT_THAT(found_in(moved(48, 232), 384), HasSubstr("deadlock"));
  EXPECT_THAT(found_in(moved(176, 232), 384), HasSubstr("from 168 registers to 176"));
  EXPECT_THAT(found_in(moved(40, 160), 384), HasSubstr("from 168 registers to 160"));
  EXPECT_THAT(found_in("if (t == 0) reg_dealloc<40>(); out[t] = t;", 384), HasSubstr("deadlock"));
}

/// The tiles in the order of a launch's blocks.
std::vector<int> tiles_in_order(int tiles, int columns, int group) {
  const std::string text = fmt::format(
      "#include \"tunesmith_device.cuh\"\nextern \"C\" __global__ void test(int* out) {{\n  for (int i = 0; "
      "i < "
      "{0}; ++i) out[i] = grouped_tile<{0}, {1}, {2}>(i);\n}}\n",
      tiles, columns, group);
  std::vector<cuda::EmulatedArgument> arguments{output("out", 4 * static_cast<size_t>(tiles))};
  EXPECT_TRUE(run_text(text, arguments, 1).clean());
  return values_of<int>(arguments[0].bytes);
}

TEST(GroupedTiles, AreAllTakenOnce) {
  EXPECT_EQ(tiles_in_order(15, 3, 2), std::vector<int>({0, 3, 1, 4, 2, 5, 6, 9, 7, 10, 8, 11, 12, 13, 14}));
  EXPECT_EQ(tiles_in_order(6, 3, 8), std::vector<int>({0, 3, 1, 4, 2, 5}));
  for (const auto& [tiles, columns, group] : {std::tuple{28, 4, 4}, {40, 5, 3}, {7, 7, 2}, {512, 16, 8}}) {
    std::vector<int> all(static_cast<size_t>(tiles));
    std::iota(all.begin(), all.end(), 0);
    std::vector<int> taken = tiles_in_order(tiles, columns, group);
    std::ranges::sort(taken);
    EXPECT_EQ(taken, all);
  }
}

}  // namespace
}  // namespace tunesmith::testing
