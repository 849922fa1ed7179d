#include "tunesmith/tuning/called_places.h"

#include <gtest/gtest.h>

#include "tunesmith/lower/lower.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/workload.h"

namespace tunesmith {
namespace {

constexpr const char* kUnit = R"(extension: places
description: Two copies of four numbers.
target: llvm
intrinsics:
  - name: places_b
    semantics: {inputs: {X: {shape: [4], dtype: f32}}, compute: "O[j<4] = X[j]", outputs: [O]}
    implementation: {arguments: [X], fragment: "ret <4 x float> %X"}
  - name: places_a
    semantics: {inputs: {X: {shape: [4], dtype: f32}}, compute: "O[j<4] = X[j] + 1", outputs: [O]}
    implementation:
      arguments: [X]
      fragment: |
        ret <4 x float> %X
)";

TEST(CalledPlaces, NamesEachIntrinsicOnceWithItsLine) {
  const auto file = ExtensionFile::parse(kUnit, "places.yaml");
  LowerOptions options;
  file->adapt(options);
  for (const TensorIntrinsicPtr& intrinsic : options.intrinsics) TensorIntrinsics::global().add(intrinsic);
  const auto definition = WorkloadDefinition::parse(
      "name: work\ninputs: {X: {shape: [4, 8], dtype: f32}}\ncompute: |\n"
      "  P[i<4, j<8] = X[i, j]\n  O[i<4, j<8] = P[i, j] + 1\noutputs: [O]\n",
      "work.yaml");
  Schedule schedule(definition.instantiate().program);
  EXPECT_EQ(called_places(lower(schedule.program(), options).program), "");
  EXPECT_EQ(with_called_places("wrong", lower(schedule.program(), options).program), "wrong");
  for (const auto& [block, intrinsic] : {std::pair{"P", "places_b"}, std::pair{"O", "places_a"}}) {
    const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block(block));
    schedule.tensorize(schedule.split(loops[1], {std::nullopt, 4})[1], intrinsic);
  }
  EXPECT_EQ(called_places(lower(schedule.program(), options).program),
            "places.yaml:13: tensor intrinsic places_a, places.yaml:7: tensor intrinsic places_b");
  EXPECT_EQ(
      with_called_places("O[0] is wrong", lower(schedule.program(), options).program),
      "O[0] is wrong; the program calls places.yaml:13: tensor intrinsic places_a, places.yaml:7: tensor "
      "intrinsic places_b");
  const std::string named = "places.yaml:7: tensor intrinsic places_b: no such instruction";
  EXPECT_EQ(with_called_places(named, lower(schedule.program(), options).program), named);
}

}  // namespace
}  // namespace tunesmith
