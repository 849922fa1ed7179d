// The module multi_level_tiling: the structures that it takes.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/support/error.h>

#include "module_test.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;

class TiledSketches : public tunesmith_test::ModuleTest {
 protected:
  TiledSketches() : ModuleTest("multi_level_tiling") {}
};

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
