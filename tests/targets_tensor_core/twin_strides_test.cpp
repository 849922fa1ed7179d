// A unit whose field for strides is too narrow works on smaller shapes, so twins call instructions with the
// strides of the full shape.
#include <filesystem>
#include <fstream>
#include <memory>
#include <optional>
#include <string>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "temporary_folder.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/target/separate_device.h"
#include "tunesmith/workload/library.h"
#include "twins/full_strides.h"
#include "twins/grid_twin_finder.h"

namespace tunesmith {
namespace {

constexpr const char* kSpaces = R"(version: 1
default: tiles
spaces:
  tiles:
    extends: cuda
    target: {with+: [./tile.yaml]}
    modules:
      - script:
          match: [T]
          claim: true
          trace: |
            i, j = get_loops(block)
            i0, i1, i2 = split(i, [None, 4, 4])
            j0, j1, j2 = split(j, [None, 8, 4])
            reorder([i0, j0, i1, j1, i2, j2])
            t = tensorize(i2, "tile_copy")
            bind(i0, "block.y")
            bind(j0, "block.x")
            bind(i1, "thread.y")
            bind(j1, "thread.x")
      - auto_bind
)";

constexpr const char* kUnit = R"(extension: tile
description: A unit that copies tiles of 4 x 4.
target: cuda
intrinsics:
  - name: tile_copy
    semantics: {{inputs: {{M: {{shape: [4, 4], dtype: f32}}}}, compute: "O[i<4, j<4] = M[i, j]", outputs: [O]}}
    operands:
      M: {{scope: global, strides: [4n, 1]}}
      O: {{scope: global, strides: [4n, 1]}}
    implementation: {{fragment: "for (int i = 0; i < 4; ++i) for (int j = 0; j < 4; ++j) (O)[i * ({}) + j] = (M)[i * ({}) + j];"}}
)";

constexpr const char* kCopy = R"(name: copy
params: {n: 512, m: 512}
inputs:
  A: {shape: [n, m], dtype: f32}
compute: |
  T[i<n, j<m] = A[i, j]
outputs: [T]
)";
/// The unit writes a buffer of the program.
constexpr const char* kBetween = R"(name: between
params: {n: 512, m: 512}
inputs:
  A: {shape: [n, m], dtype: f32}
compute: |
  T[i<n, j<m] = A[i, j]
  C[i<n, j<m] = T[i, j] * 2
outputs: [C]
)";

/// A unit copies rows with these strides.
class TwinStrides : public testing::Test {
 protected:
  void make(const char* text, const std::string& to, const std::string& from) {
    std::ofstream(folder_ / "spaces.yaml") << kSpaces;
    std::ofstream(folder_ / "tile.yaml") << fmt::format(kUnit, to, from);
    std::ofstream(folder_ / "work.yaml") << text;
    workload_.emplace(WorkloadLibrary().load((folder_ / "work.yaml").string()));
    space_ = std::make_unique<Space>(SpacesFile::load(folder_ / "spaces.yaml").space("tiles"), registry_);
    const SketchSet sketches = space_->generate(workload_->program);
    ASSERT_FALSE(sketches.sketches.empty());
    auto candidate =
        space_->materialise(workload_->program, sketches.sketches.front().trace(), RandomStream(0));
    ASSERT_TRUE(candidate) << candidate.error().message;
    candidate_ = *candidate;
    twin_ = GridTwinFinder(*workload_, *space_).find_grid_twin(*candidate_);
    ASSERT_TRUE(twin_);
  }

  MeasureResult verify() {
    const auto kernel = twins_of(space_->target())
                            ->compile_reduced_instance(candidate_->lowered, twin_->candidate->lowered, "k");
    EXPECT_TRUE(kernel) << kernel.error();
    const MeasureRequest request{&*kernel, 0.0, false, twin_->workload.get()};
    const auto runner = make_worker_runner(*workload_, space_->target(),
                                           {"cuda", {}, {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}}, {});
    return runner->run({&request, 1}).front();
  }

  const test::TemporaryFolder folder_;
  PluginRegistry registry_;
  std::optional<Workload> workload_;
  std::unique_ptr<Space> space_;
  CandidatePtr candidate_;
  std::optional<GridTwin> twin_;
};

TEST_F(TwinStrides, AreThoseOfTheFullShape) {
  for (const char* text : {kCopy, kBetween}) {
    make(text, "O_stride", "M_stride");
    ASSERT_TRUE(twin_);
    EXPECT_LT(twin_->workload->bytes_min, workload_->bytes_min / 2) << twin_->workload->key;
    EXPECT_TRUE(unequal_strides(candidate_->lowered.program, twin_->candidate->lowered.program).empty());
    const Buffer& from = twin_->workload->program.inputs.front();
    EXPECT_EQ(from->effective_strides().front(), 512);
    EXPECT_LT(from->shape.back(), 512);
  }
}

TEST_F(TwinStrides, OfARightUnitAreAccepted) {
  for (const char* text : {kCopy, kBetween}) {
    make(text, "O_stride", "M_stride");
    ASSERT_TRUE(twin_);
    const MeasureResult result = verify();
    EXPECT_FALSE(result.failure) << result.failure->message;
  }
}

TEST_F(TwinStrides, ShowAFieldThatIsTooNarrow) {
  make(kCopy, "O_stride", "M_stride & 511");
  ASSERT_TRUE(twin_);
  const MeasureResult read = verify();
  ASSERT_TRUE(read.failure);
  EXPECT_EQ(read.failure->cause, FailureCause::WrongResult) << read.failure->message;
  make(kBetween, "O_stride & 511", "M_stride");
  ASSERT_TRUE(twin_);
  const MeasureResult written = verify();
  ASSERT_TRUE(written.failure);
  EXPECT_EQ(written.failure->cause, FailureCause::WrongResult) << written.failure->message;
}

}  // namespace
}  // namespace tunesmith
