// Blocks bound by memory: which the module takes, its programs, and that they are correct.
#include <memory>
#include <string>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

#include "module_test.h"
#include "outline.h"
#include "same_results.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;
using testing::StartsWith;
using tunesmith_test::outline;
using tunesmith_test::SameResults;

constexpr const char* kColumns = R"(name: columns
params: {m: 64, n: 64}
inputs:
  X: {shape: [m, n], dtype: f32}
compute: |
  S[j<n] = sum(i<m) X[i, j]
outputs: [S]
)";

class Stream : public tunesmith_test::ModuleTest {
 protected:
  Stream() : ModuleTest("stream") {}
  static Workload built_in(const std::string& text) { return WorkloadLibrary().load(text); }
  static Workload columns(int64_t m, int64_t n) {
    return WorkloadDefinition::parse(kColumns, "columns.yaml")
        .instantiate(parse_workload_text(fmt::format("columns:m={},n={}", m, n)).second);
  }
  std::string reason_for(const Workload& workload, const std::string& block) {
    return reason(space_->generate(workload.program), block);
  }
  /// Some draws of each sketch compute what the program does.
  void expect_right(const Workload& workload) {
    const SameResults results(workload.program);
    const SketchSet set = space_->generate(workload.program);
    for (size_t s = 0; s < set.sketches.size(); ++s) {
      for (uint64_t draw = 0; draw < 3; ++draw) {
        const auto candidate = space_->materialise(
            workload.program, set.sketches[s].trace().with_open_decisions(), RandomStream(draw, s));
        ASSERT_TRUE(candidate) << candidate.error().message << candidate.error().detail;
        results.expect_of(**candidate);
      }
    }
  }
};

TEST_F(Stream, CutsALongReductionIntoPiecesForTheCores) {
  use("stream: {accumulators: [2], jobs_per_core: [4]}");
  const SketchSet set = space_->generate(built_in("norm:m=512,n=512").program);
  EXPECT_EQ(reason(set, "S"), "applied");
  ASSERT_EQ(set.sketches.size(), 1U);
  const auto jobs = 4 * static_cast<int64_t>(space_->device().get("cores"));
  EXPECT_EQ(outline(set.sketches[0].program()), fmt::format(R"( {} parallel
  8 vectorized
   S_rf_rf_init
  {}
   8 vectorized
    S_rf_rf
  4 vectorized
   S_rf_rf_1_init
  2 unrolled
   4 vectorized
    S_rf_rf_1
  2 vectorized
   S_rf_rf_2_init
  2 unrolled
   2 vectorized
    S_rf_rf_2
  S_rf_init
  2 unrolled
   S_rf
 1
  {}
   S
 1
  D
)",
                                                            jobs, int64_t{512} * 512 / jobs / 8, jobs));
}

TEST_F(Stream, MayFetchAheadWhatNoPrivateCacheHolds) {
  use("stream: {accumulators: [2], jobs_per_core: [1], prefetch_steps: [64]}");
  const auto cores = static_cast<int64_t>(space_->device().get("cores"));
  const auto l2_floats = static_cast<int64_t>(space_->device().get_or("l2_bytes", 262144)) / 4 * cores;
  const auto sketches_of = [&](int64_t n) {
    return space_->generate(built_in(fmt::format("reduce_sum_1d:n={}", n)).program).sketches;
  };
  EXPECT_EQ(sketches_of(l2_floats).size(), 1U);
  const auto sketches = sketches_of(2 * l2_floats);
  ASSERT_EQ(sketches.size(), 2U);
  EXPECT_THAT(sketches[0].trace().str(), Not(HasSubstr("\"prefetch\"")));
  EXPECT_THAT(sketches[1].trace().str(), HasSubstr("\"prefetch\""));
}

TEST_F(Stream, ComputesRowsInParallel) {
  use("stream: {accumulators: [4]}");
  const SketchSet set = space_->generate(built_in("reduce_sum_2d:m=4096,n=64").program);
  ASSERT_EQ(set.sketches.size(), 1U) << "there are enough results: no pieces";
  EXPECT_THAT(outline(set.sketches[0].program()), StartsWith(" 4096 parallel\n  16 vectorized\n"));
}

TEST_F(Stream, KeepsPanelsOfColumnsInRegisters) {
  use("stream: {accumulators: [2], prefetch: []}");
  const SketchSet set = space_->generate(columns(16, 4096).program);
  ASSERT_EQ(set.sketches.size(), 1U);
  EXPECT_EQ(outline(set.sketches[0].program()), R"( 512 parallel
  8 vectorized
   S_init
  16
   8 vectorized
    S
  8 vectorized
   S_local
)");
}

/// A matrix times a vector, and a 1 x 1 convolution of one pixel, which is the same.
constexpr const char* kMatrixVector = R"(name: matrix_vector
params: {m: 333, k: 260}
inputs:
  X: {shape: [k], dtype: f32}
  W: {shape: [m, k], dtype: f32, constant: true}
compute: |
  S[i<m] = sum(r<k) X[r] * W[i, r]
outputs: [S]
)";
constexpr const char* kOnePixel = R"(name: one_pixel
inputs:
  X: {shape: [1, 1, 1, 96], dtype: f32}
  W: {shape: [401, 96, 1, 1], dtype: f32, constant: true}
  B: {shape: [401], dtype: f32}
compute: |
  S[n<1, y<1, x<1, o<401] = sum(r<96) X[n, y, x, r] * W[o, r, 0, 0]
  O[n<1, y<1, x<1, o<401] = max(S[n, y, x, o] + B[o], 0)
outputs: [O]
)";

TEST_F(Stream, ReadsAMatrixOnceThoughItsVectorIsReadAgain) {
  use("stream: {accumulators: [2]}, parallel_vectorize_unroll: {unroll: [0]}, rewrite_reduction_init, "
      "rewrite_parallel_vectorize_unroll");
  for (const char* text : {kMatrixVector, kOnePixel}) {
    const Workload workload = WorkloadDefinition::parse(text, "w.yaml").instantiate();
    expect_right(workload);
    const SketchSet set = space_->generate(workload.program);
    ASSERT_EQ(set.sketches.size(), 1U) << text;
    EXPECT_THAT(outline(set.sketches[0].program()), HasSubstr(" parallel\n  8 vectorized\n")) << text;
  }
  // Declines if the vector exceeds the first-level cache, or a second row reads the matrix again.
  const auto of = [](int64_t rows, int64_t k) {
    return WorkloadDefinition::parse(
               fmt::format("name: rows\ninputs:\n  X: {{shape: [{0}, {1}], dtype: f32}}\n"
                           "  W: {{shape: [64, {1}], dtype: f32}}\ncompute: |\n"
                           "  S[n<{0}, i<64] = sum(r<{1}) X[n, r] * W[i, r]\noutputs: [S]\n",
                           rows, k),
               "rows.yaml")
        .instantiate();
  };
  const std::string order = "the block does not read memory once and in its order";
  EXPECT_EQ(reason_for(of(2, 400), "S"), order);
  EXPECT_EQ(reason_for(of(1, 100'000), "S"), order);
  EXPECT_EQ(reason_for(built_in("gram:n=64,k=32"), "G"), order) << "no operand is read once";
}

TEST_F(Stream, CutsTallColumnsIntoPieces) {
  use("stream: {accumulators: [2], jobs_per_core: [1]}");
  const SketchSet set = space_->generate(columns(65536, 16).program);
  ASSERT_EQ(set.sketches.size(), 4U) << "panels and pieces, with and without fetching ahead";
  EXPECT_THAT(set.sketches[3].trace().str(), HasSubstr("\"prefetch\""));
}

TEST_F(Stream, KeepsTheMeaningOfOddShapes) {
  const std::string finishing =
      "stream, parallel_vectorize_unroll: {unroll: [0, 16]}, rewrite_reduction_init, "
      "rewrite_parallel_vectorize_unroll";
  for (const int vector_bits : {64, 128}) {
    use(finishing, vector_bits);
    for (const char* text :
         {"norm:b=3,m=67,n=71", "norm:m=128,n=96", "reduce_sum_1d:n=10007", "reduce_sum_2d:m=37,n=331",
          "reduce_sum_2d:m=5000,n=3", "reduce_sum_2d:m=4096,n=4", "relu:n=101,m=103", "relu:n=1,m=10007",
          "elementwise_chain:n=101,m=67", "avg_pool2d:h=7,w=7,c=300,kernel=7,stride=1,padding=0",
          "max_pool2d:h=8,w=8,c=70,kernel=2,stride=2,padding=0"})
      expect_right(built_in(text));
    for (const auto& [m, n] : {std::pair{1009, 17}, {64, 256}, {3, 5003}, {9001, 3}})
      expect_right(columns(m, n));
  }
}

TEST_F(Stream, KeepsOtherModulesAway) {
  use("stream, add_rfactor, multi_level_tiling: {structure: SSRSRS}, random_compute_location");
  const SketchSet set = space_->generate(built_in("reduce_sum_1d").program);
  for (const ModuleEvent& event : set.events) {
    if (event.module == "stream") continue;
    EXPECT_THAT(event.reason, StartsWith("claimed by stream")) << event.module << " on " << event.block;
  }
}

TEST_F(Stream, SaysWhyItDeclines) {
  use("stream");
  const std::string order = "the block does not read memory once and in its order";
  EXPECT_EQ(reason_for(built_in("gmm:n=256,m=256,k=256"), "C"), order);
  EXPECT_EQ(reason_for(built_in("max_pool2d"), "O"), order) << "windows overlap";
  EXPECT_EQ(reason_for(built_in("norm:m=16,n=16"), "S"),
            "what the block reads and writes fits the first-level cache");
  EXPECT_EQ(reason_for(built_in("dense_bias_gelu"), "O"),
            "the element-wise block belongs to others that it reads or serves");
  const Workload transposed = WorkloadDefinition::parse(R"(name: transposed
inputs:
  X: {shape: [256, 256], dtype: f32}
compute: |
  O[i<256, j<256] = X[j, i]
outputs: [O]
)",
                                                        "transposed.yaml")
                                  .instantiate({});
  EXPECT_EQ(reason_for(transposed, "O"), order);
  EXPECT_EQ(reason_for(built_in("reduce_sum_2d:m=4096,n=4"), "S"), "a row is no longer than a vector");
  use("multi_level_tiling: {structure: SSRSRS}, stream");
  const SketchSet tiled = space_->generate(built_in("gmm:n=256,m=256,k=256").program);
  EXPECT_EQ(reason(tiled, "C"), "another module has transformed the block");
}

}  // namespace
}  // namespace tunesmith
