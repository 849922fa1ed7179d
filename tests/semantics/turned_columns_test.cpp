// The module register_tile: results with few columns, and images whose lines are columns.
#include <algorithm>
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

/// Operands of turned columns are copied along them; no other sketch of these workloads has such producers.
bool is_turned(const Schedule& sketch) {
  return sketch.trace().str().find("get_producers(") != std::string::npos;
}

class TurnedColumns : public testing::Test {
 protected:
  static Program parse(const char* text) {
    return WorkloadDefinition::parse(text, "w.yaml").instantiate().program.clone();
  }
  static Program load(const char* name) { return WorkloadLibrary().load(name).program.clone(); }

  PluginRegistry registry_;
  Space space_{SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry_};
};

// Few columns leave most of a vector empty, so further sketches put rows along vectors, phase by phase.
TEST_F(TurnedColumns, RowsTakeThePlaceOfFewColumns) {
  const std::string biased =
      "name: biased\ninputs:\n  X: {shape: [5, 37, 6], dtype: f32}\n"
      "  W: {shape: [6, 2], dtype: f32, constant: true}\n  B: {shape: [2], dtype: f32}\ncompute: |\n"
      "  C[y<5, x<37, f<2] = sum(r<6) X[y, x, r] * W[r, f]\n"
      "  O[y<5, x<37, f<2] = max(C[y, x, f] + B[f], 0.0)\noutputs: [O]\n";
  for (const Program& program :
       {load("transposed_conv2d:h=3,w=18,ci=5,co=3,kernel=4,stride=2,padding=1"),
        load("conv2d:h=5,w=33,ci=4,co=2,kernel=3,stride=1,padding=1"), parse(biased.c_str())}) {
    const SketchSet set = space_.generate(program);
    const SameResults results(program);
    size_t turned = 0;
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      if (!is_turned(set.sketches[i])) continue;
      ++turned;
      results.expect_of_draws(space_, set, i, 4);
    }
    EXPECT_GT(turned, 0U) << to_string(program);
  }
  // Shorter rows than a vector stay rows.
  for (const Schedule& sketch : space_.generate(load("conv2d:h=9,w=7,ci=4,co=2,kernel=3")).sketches)
    EXPECT_FALSE(is_turned(sketch));
}

// The columns are lines of an image, which a tap shifts, so they are read in place.
TEST_F(TurnedColumns, ConvolutionsWithChannelsFirstAreTiledAlongLines) {
  const Program program = parse(
      "name: channels_first\ninputs:\n  X: {shape: [3, 8, 35], dtype: f32}\n"
      "  W: {shape: [10, 3, 3, 3], dtype: f32, constant: true}\ncompute: |\n"
      "  O[f<10, y<6, x<33] = sum(c<3, ky<3, kx<3) X[c, y + ky, x + kx] * W[f, c, ky, kx]\noutputs: [O]\n");
  const SketchSet set = space_.generate(program);
  const SameResults results(program);
  ASSERT_FALSE(set.sketches.empty());
  for (size_t i = 0; i < set.sketches.size(); ++i) results.expect_of_draws(space_, set, i, 6);
  EXPECT_TRUE(std::ranges::any_of(set.events, [](const ModuleEvent& event) {
    return event.module == "register_tile" && event.status == ModuleResult::Status::Applied;
  }));
}

}  // namespace
}  // namespace tunesmith
