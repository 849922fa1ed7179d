// Options of the modules that tile: some are refused, and accepted ones have an effect.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/support/error.h>
#include <tunesmith/workload/library.h>

#include "module_test.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class MultiLevelTilingOptions : public tunesmith_test::ModuleTest {
 protected:
  MultiLevelTilingOptions() : ModuleTest("multi_level_tiling") {}
};

TEST_F(MultiLevelTilingOptions, StructuresThatNoLoopCanHaveAreRefusedWhereTheyStand) {
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

class RegisterTileOptions : public tunesmith_test::ModuleTest {
 protected:
  RegisterTileOptions() : ModuleTest("register_tile") {}
};

TEST_F(RegisterTileOptions, ASingleChoiceOfStepsIsTaken) {
  use("register_tile: {steps: [3]}");
  const SketchSet set = space_->generate(WorkloadLibrary().load("gmm:n=8,m=16,k=12").program);
  ASSERT_FALSE(set.sketches.empty());
  for (const Schedule& sketch : set.sketches) EXPECT_THAT(sketch.trace().str(), HasSubstr("[None, 3]"));
}

}  // namespace
}  // namespace tunesmith
