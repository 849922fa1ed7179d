// The module multi_level_tiling: what its tiles are written by, and the structures that it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/support/error.h>
#include <tunesmith/workload/library.h>

#include "module_test.h"
#include "same_results.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using tunesmith_test::SameResults;

/// Distances of all pairs: an element of the result reads three of the products.
constexpr const char* kPairs = R"(name: pairs
params: {n: 8, m: 6}
inputs:
  X: {shape: [n, m], dtype: f32}
compute: |
  G[i<n, j<n] = sum(r<m) X[i, r] * X[j, r]
  D[i<n, j<n] = G[i, i] + G[j, j] - 2 * G[i, j]
outputs: [D]
)";

class TiledSketches : public tunesmith_test::ModuleTest {
 protected:
  TiledSketches() : ModuleTest("multi_level_tiling") {}
};

TEST_F(TiledSketches, AConsumerThatReadsSeveralElementsLeavesTheTileToACopy) {
  use("multi_level_tiling: {structure: SSRSRS, write_reuse: [1]}");
  const Workload workload = WorkloadDefinition::parse(kPairs, "pairs.yaml").instantiate();
  const SketchSet set = space_->generate(workload.program);
  EXPECT_EQ(reason(set, "G"), "applied");
  const SameResults results(workload.program);
  for (size_t s = 0; s < set.sketches.size(); ++s) results.expect_of_draws(*space_, set, s, 3);
}

TEST_F(TiledSketches, StructuresThatNoLoopCanHaveAreRefusedWhereTheyStand) {
  const auto refusal = [&](const std::string& options) -> std::string {
    try {
      use("multi_level_tiling: {" + options + "}");
    } catch (const UserError& error) {
      return error.what();
    }
    return "accepted";
  };
  const std::string counts = "expected S and R, 1 to 16 times each";
  EXPECT_THAT(refusal("structure: SSS"), HasSubstr(counts));
  EXPECT_THAT(refusal("structure: S" + std::string(17, 'R')), HasSubstr(counts));
  EXPECT_THAT(refusal("structure: SSR, write_reuse: [1], row_tiles: [4], column_tiles: [16]"),
              HasSubstr("expected a structure with S behind its first R"));
  EXPECT_EQ(refusal("structure: SSR, write_reuse: [1]"), "accepted");
}

}  // namespace
}  // namespace tunesmith
