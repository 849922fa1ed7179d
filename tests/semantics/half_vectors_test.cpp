// The module register_tile: columns for which vectors of half of 512 bits have no idle lanes.
#include <string>

#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

#include "same_results.h"

namespace tunesmith {
namespace {

using tunesmith_test::SameResults;

class HalfVectors : public testing::Test {
 protected:
  static Program product_of_columns(int64_t columns) {
    return WorkloadLibrary().load("gmm:n=21,k=8,m=" + std::to_string(columns)).program.clone();
  }

  static Space space(PluginRegistry& registry, int vector_bits) {
    const SpacesFile file = SpacesFile::parse(
        "version: 1\nspaces:\n  s:\n    extends: cpu\n    target: {kind: llvm, mcpu: znver4, vector_bits: " +
            std::to_string(vector_bits) + ", verify: true}\n",
        "s.yaml");
    return Space(file.space("s"), registry, TargetPresence::NotRequired);
  }

  /// The number of sketches with vectors of this many floats.
  static size_t sketches_of_lanes(const SketchSet& set, int64_t lanes) {
    size_t found = 0;
    for (const Schedule& sketch : set.sketches)
      found += sketch.trace().str().find(", " + std::to_string(lanes) + "])\n") != std::string::npos ? 1 : 0;
    return found;
  }

  PluginRegistry registry_;
};

TEST_F(HalfVectors, LeaveNoLaneIdle) {
  const Space wide = space(registry_, 512);
  for (const int64_t columns : {24, 40, 56}) {
    const Program program = product_of_columns(columns);
    const SketchSet set = wide.generate(program);
    EXPECT_GT(sketches_of_lanes(set, 8), 0U) << to_string(program);
    EXPECT_GT(sketches_of_lanes(set, 16), 0U);
    const SameResults results(program);
    for (size_t i = 0; i < set.sketches.size(); ++i) results.expect_of_draws(wide, set, i, 3);
  }
}

TEST_F(HalfVectors, AreNotThereWhereTheyGainNothing) {
  const Space wide = space(registry_, 512);
  // 32: no lane is idle. 20: half vectors have idle lanes, too. 72: few lanes are idle.
  for (const int64_t columns : {32, 20, 72})
    EXPECT_EQ(sketches_of_lanes(wide.generate(product_of_columns(columns)), 8), 0U) << columns;
  // One narrow vector contains all columns.
  EXPECT_EQ(sketches_of_lanes(wide.generate(product_of_columns(8)), 4), 0U);
  // Vectors of 256 bits are not halved.
  EXPECT_EQ(sketches_of_lanes(space(registry_, 256).generate(product_of_columns(12)), 4), 0U);
}

}  // namespace
}  // namespace tunesmith
