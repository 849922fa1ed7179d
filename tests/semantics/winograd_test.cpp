// The module winograd: its programs for convolutions.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

#include "extended.h"
#include "module_test.h"
#include "same_results.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using tunesmith_test::SameResults;

/// A residual, batch norm and a ramp follow the sum.
constexpr const char* kNormed =
    "name: residual\nparams: {h: 7, w: 8, c: 32, f: 16}\n"
    "inputs:\n  X: {shape: [h, w, c], dtype: f32}\n  R: {shape: [h, w, f], dtype: f32}\n"
    "  S: {shape: [f], dtype: f32}\n  W: {shape: [3, 3, c, f], dtype: f32, constant: true}\ncompute: |\n"
    "  P[y<h+2, x<w+2, r<c] = inside(X[y - 1, x - 1, r], 0)\n"
    "  C[y<h, x<w, o<f] = sum(a<3, b<3, r<c) P[y + a, x + b, r] * W[a, b, r, o]\n"
    "  B[y<h, x<w, o<f] = C[y, x, o] * S[o]\n"
    "  O[y<h, x<w, o<f] = max(B[y, x, o] + R[y, x, o], 0.0)\noutputs: [O]\n";

class WinogradModule : public tunesmith_test::ModuleTest {
 protected:
  WinogradModule() : ModuleTest("winograd") {}
  std::string reason_for(const std::string& workload, const std::string& block = "O") {
    return reason(space_->generate(WorkloadLibrary().load(workload).program), block);
  }
  static bool filters(const Trace& trace) { return trace.str().find("winograd(") != std::string::npos; }
};

TEST_F(WinogradModule, IsASketchBesideTheDirectForm) {
  use("winograd");
  const SketchSet set = space_->generate(WorkloadLibrary().load("conv2d:h=8,w=8,ci=32,co=32").program);
  ASSERT_EQ(set.sketches.size(), 2U);
  EXPECT_FALSE(filters(set.sketches[0].trace()));
  EXPECT_TRUE(filters(set.sketches[1].trace()));
}

TEST_F(WinogradModule, MakesWhatFollowsWithTheOutputs) {
  use("winograd");
  const Workload workload = WorkloadDefinition::parse(kNormed, "w.yaml").instantiate();
  const SketchSet set = space_->generate(workload.program);
  ASSERT_EQ(set.sketches.size(), 2U);
  const std::string program = to_string(set.sketches[1].program());
  EXPECT_THAT(program, Not(HasSubstr("block B(")));
  EXPECT_THAT(program, HasSubstr("R[v"));
}

TEST_F(WinogradModule, ProgramsComputeWhatTheConvolutionDoes) {
  use("winograd, auto_inline, register_tile, parallel_vectorize_unroll, partition_edges, "
      "rewrite_reduction_init, "
      "rewrite_parallel_vectorize_unroll");
  std::vector<Workload> workloads;
  workloads.push_back(WorkloadLibrary().load("conv2d:h=5,w=6,ci=32,co=12"));
  if (test::is_extended()) {
    workloads.push_back(WorkloadDefinition::parse(kNormed, "w.yaml").instantiate());
    for (const char* text : {"conv1d:l=9,ci=32,co=8", "conv3d:d=3,h=4,w=5,ci=32,co=8"})
      workloads.push_back(WorkloadLibrary().load(text));
  }
  size_t filtered = 0;
  for (const Workload& workload : workloads) {
    const SameResults results(workload.program);
    const SketchSet set = space_->generate(workload.program);
    for (size_t s = 0; s < set.sketches.size(); ++s) {
      const auto candidate = space_->materialise(
          workload.program, set.sketches[s].trace().with_open_decisions(), RandomStream(3, s));
      ASSERT_TRUE(candidate) << candidate.error().message << candidate.error().detail;
      filtered += filters((*candidate)->trace) ? 1 : 0;
      results.expect_of(**candidate, 1e-4);
    }
  }
  EXPECT_GE(filtered, 2 * workloads.size());
}

/// One dimension has a stride of two, so tiles extend along the other only.
TEST_F(WinogradModule, WritesOutThePointsAlone) {
  use("winograd");
  const Workload workload =
      WorkloadDefinition::parse(
          "name: strided\ninputs:\n  X: {shape: [34, 35, 32], dtype: f32}\n"
          "  W: {shape: [3, 3, 32, 16], dtype: f32, constant: true}\ncompute: |\n"
          "  O[y<32, x<17, o<16] = sum(a<3, b<3, r<32) X[y + a, x*2 + b, r] * W[a, b, r, o]\noutputs: [O]\n",
          "strided.yaml")
          .instantiate();
  const SketchSet set = space_->generate(workload.program);
  ASSERT_EQ(set.sketches.size(), 2U);
  const std::string program = to_string(set.sketches[1].program());
  for (const char* extent : {"17", "16", "35", "3"})
    EXPECT_THAT(program, Not(HasSubstr(fmt::format("0..{} unrolled", extent))));
  EXPECT_THAT(program, HasSubstr("0..4 unrolled"));
}

TEST_F(WinogradModule, WhatItDeclines) {
  use("winograd");
  const std::string none = "no output axis has a filter of three taps with stride one";
  EXPECT_EQ(reason_for("conv2d:h=8,w=8,ci=32,co=32,stride=2"), none);
  EXPECT_EQ(reason_for("conv2d:h=8,w=8,ci=32,co=32,kernel=1,padding=0"), none);
  EXPECT_EQ(reason_for("conv2d:h=8,w=8,ci=32,co=32,kernel=5,padding=2"), none);
  EXPECT_EQ(reason_for("conv2d:h=8,w=8,ci=16,co=32"),
            "there are too few channels to make up for the transforms");
  EXPECT_EQ(reason_for("conv2d:h=8,w=8,ci=32,co=34"), "the channels are not whole vectors");
  EXPECT_EQ(reason_for("gmm", "C"), none);
}

}  // namespace
}  // namespace tunesmith
