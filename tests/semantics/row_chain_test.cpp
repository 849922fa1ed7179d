// Chains of reductions over one row: which blocks form one, its programs, and that they are correct.
#include <algorithm>
#include <set>
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
#include "outline.h"
#include "same_results.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::StartsWith;
using tunesmith_test::outline;
using tunesmith_test::SameResults;

/// Queries and keys are ordered by token and head, as projections write them.
constexpr const char* kAttention = R"(name: attention
params: {n: 12, keys: n, heads: 2, d: 8}
inputs:
  Q: {shape: [n, heads, d], dtype: f32}
  K: {shape: [keys, heads, d], dtype: f32}
  V: {shape: [keys, heads, d], dtype: f32}
compute: |
  S[h<heads, i<n, j<keys] = (sum(r<d) Q[i, h, r] * K[j, h, r]) * 0.25
  Max[h<heads, i<n] = max(j<keys) S[h, i, j]
  E[h<heads, i<n, j<keys] = exp(S[h, i, j] - Max[h, i])
  Sum[h<heads, i<n] = sum(j<keys) E[h, i, j]
  P[h<heads, i<n, j<keys] = E[h, i, j] / Sum[h, i]
  O[i<n, h<heads, c<d] = sum(j<keys) P[h, i, j] * V[j, h, c]
outputs: [O]
)";

/// The division after the product, and a mask before the softmax.
constexpr const char* kDividedLast = R"(name: divided_last
params: {n: 12, keys: n, d: 8}
inputs:
  Q: {shape: [n, d], dtype: f32}
  K: {shape: [keys, d], dtype: f32}
  V: {shape: [keys, d], dtype: f32}
  Bias: {shape: [keys], dtype: f32}
compute: |
  S[i<n, j<keys] = sum(r<d) Q[i, r] * K[j, r]
  B[i<n, j<keys] = S[i, j] + Bias[j]
  Max[i<n] = max(j<keys) B[i, j]
  E[i<n, j<keys] = exp(B[i, j] - Max[i])
  Sum[i<n] = sum(j<keys) E[i, j]
  W[i<n, c<d] = sum(j<keys) E[i, j] * V[j, c]
  O[i<n, c<d] = W[i, c] / Sum[i]
outputs: [O]
)";

/// The operands' axes are exchanged first.
constexpr const char* kTransposed = R"(name: transposed
params: {n: 12, heads: 3, d: 8}
inputs:
  Q: {shape: [n, heads, d], dtype: f32}
  K: {shape: [n, heads, d], dtype: f32}
  V: {shape: [n, heads, d], dtype: f32}
compute: |
  QT[h<heads, i<n, r<d] = Q[i, h, r]
  KT[h<heads, r<d, j<n] = K[j, h, r]
  VT[h<heads, j<n, r<d] = V[j, h, r]
  S[h<heads, i<n, j<n] = sum(r<d) QT[h, i, r] * KT[h, r, j]
  Max[h<heads, i<n] = max(j<n) S[h, i, j]
  E[h<heads, i<n, j<n] = exp(S[h, i, j] - Max[h, i])
  Sum[h<heads, i<n] = sum(j<n) E[h, i, j]
  P[h<heads, i<n, j<n] = E[h, i, j] / Sum[h, i]
  O[h<heads, i<n, c<d] = sum(j<n) P[h, i, j] * VT[h, j, c]
outputs: [O]
)";

/// Products at one end only; the second's weights are a panel.
constexpr const char* kEnds = R"(name: ends
params: {n: 12, k: 40, m: 24}
inputs:
  X: {shape: [n, k], dtype: f32}
  W: {shape: [k, m], dtype: f32}
compute: |
  Squares[i<n] = sum(r<k) X[i, r] * X[i, r]
  N[i<n, r<k] = X[i, r] * rsqrt(Squares[i] / k + 0.00001)
  O[i<n, j<m] = sum(r<k) N[i, r] * W[r, j]
outputs: [O]
)";

constexpr const char* kProbabilities = R"(name: probabilities
params: {n: 12, keys: 40, d: 8}
inputs:
  Q: {shape: [n, d], dtype: f32}
  K: {shape: [keys, d], dtype: f32}
compute: |
  S[i<n, j<keys] = sum(r<d) Q[i, r] * K[j, r]
  Max[i<n] = max(j<keys) S[i, j]
  E[i<n, j<keys] = exp(S[i, j] - Max[i])
  Sum[i<n] = sum(j<keys) E[i, j]
  P[i<n, j<keys] = E[i, j] / Sum[i]
outputs: [P]
)";

/// Reduced axes are kept with one iteration, as networks write them.
constexpr const char* kKeptAxes = R"(name: kept_axes
params: {b: 1, n: 12, heads: 2, d: 8}
inputs:
  Q: {shape: [b, heads, n, d], dtype: f32}
  K: {shape: [b, heads, d, n], dtype: f32}
  V: {shape: [b, heads, n, d], dtype: f32}
compute: |
  S[a<b, h<heads, i<n, j<n] = sum(r<d) (Q[a, h, i, r] * K[a, h, r, j])
  Max[a<b, h<heads, i<n, u<1] = max(r<n) (S[a, h, i, r])
  E[a<b, h<heads, i<n, j<n] = exp(S[a, h, i, j] - Max[a, h, i, 0])
  Sum[a<b, h<heads, i<n, u<1] = sum(r<n) (E[a, h, i, r])
  P[a<b, h<heads, i<n, j<n] = E[a, h, i, j] / Sum[a, h, i, 0]
  O[a<b, h<heads, i<n, c<d] = sum(r<n) (P[a, h, i, r] * V[a, h, r, c])
outputs: [O]
)";
constexpr const char* kKeptNorm = R"(name: kept_norm
params: {b: 1, n: 24, d: 40}
inputs:
  X: {shape: [b, n, d], dtype: f32}
  Scale: {shape: [d], dtype: f32}
compute: |
  Total[a<b, i<n, u<1] = sum(r<d) (X[a, i, r])
  Mean[a<b, i<n, u<1] = Total[a, i, u] / d
  Squares[a<b, i<n, u<1] = sum(r<d) ((X[a, i, r] - Mean[a, i, u]) * (X[a, i, r] - Mean[a, i, u]))
  Inverse[a<b, i<n, u<1] = rsqrt(Squares[a, i, u] / d + 0.00001)
  O[a<b, i<n, j<d] = (X[a, i, j] - Mean[a, i, 0]) * Inverse[a, i, 0] * Scale[j]
outputs: [O]
)";

class RowChain : public tunesmith_test::ModuleTest {
 protected:
  RowChain() : ModuleTest("row_chain") {}
  static Workload parsed(const char* text, const std::string& parameters = "") {
    const auto given = parse_workload_text(parameters.empty() ? "chain" : "chain:" + parameters).second;
    return WorkloadDefinition::parse(text, "chain.yaml").instantiate(given);
  }
  /// Some draws of each sketch compute what the program does; half as many in the suite.
  void expect_right(const Workload& workload, int draws) {
    draws = test::usual_or_extended(draws / 2, draws);
    const SameResults results(workload.program);
    const SketchSet set = space_->generate(workload.program);
    for (size_t s = 0; s < set.sketches.size(); ++s) {
      for (int draw = 0; draw < draws; ++draw) {
        const auto candidate =
            space_->materialise(workload.program, set.sketches[s].trace().with_open_decisions(),
                                RandomStream(static_cast<uint64_t>(draw), s));
        ASSERT_TRUE(candidate) << candidate.error().message << candidate.error().detail;
        results.expect_of(**candidate, 1e-4);
      }
    }
  }
};

TEST_F(RowChain, ComputesAllOfARowTogether) {
  use("row_chain: {accumulators: [2]}");
  const SketchSet set = space_->generate(WorkloadLibrary().load("softmax:m=512,n=8192").program);
  EXPECT_EQ(reason(set, "O"), "applied");
  for (const char* member : {"Max", "E", "Sum"}) EXPECT_NE(reason(set, member), "applied") << member;
  ASSERT_EQ(set.sketches.size(), 2U) << "with and without fetching ahead";
  EXPECT_EQ(outline(set.sketches[0].program()), R"( 512 parallel
  8 vectorized
   Max_rf_init
  1024
   8 vectorized
    Max_rf
  4 vectorized
   Max_rf_1_init
  2 unrolled
   4 vectorized
    Max_rf_1
  2 vectorized
   Max_rf_2_init
  2 unrolled
   2 vectorized
    Max_rf_2
  Max_init
  2 unrolled
   Max
  1024
   8 vectorized
    E
  8 vectorized
   Sum_rf_init
  1024
   8 vectorized
    Sum_rf
  4 vectorized
   Sum_rf_1_init
  2 unrolled
   4 vectorized
    Sum_rf_1
  2 vectorized
   Sum_rf_2_init
  2 unrolled
   2 vectorized
    Sum_rf_2
  Sum_init
  2 unrolled
   Sum
  1024
   8 vectorized
    O
)");
}

TEST_F(RowChain, ComputesAFewShortRowsEitherWay) {
  use("row_chain");
  const auto cores = static_cast<int64_t>(space_->device().get("cores"));
  const auto sketches = [&](int64_t rows) {
    const Workload workload = WorkloadLibrary().load(fmt::format("softmax:m={},n=32", rows));
    return space_->generate(workload.program).sketches.size();
  };
  EXPECT_EQ(sketches(8 * cores), 3U) << "blocks, and single rows with and without fetching ahead";
  EXPECT_EQ(sketches(64 * cores), 1U);
}

TEST_F(RowChain, ComputesShortRowsInBlocks) {
  use("row_chain: {accumulators: [2]}");
  const SketchSet set = space_->generate(WorkloadLibrary().load("softmax:m=4096,n=32").program);
  ASSERT_EQ(set.sketches.size(), 1U);
  EXPECT_THAT(set.sketches[0].trace().str(), HasSubstr("sample_categorical([2, 4, 8,")) << "rows of a block";
}

constexpr const char* kTiledAttention = R"( 512 parallel
  16
   8 vectorized
    K_global
 128 parallel
  64
   8 vectorized
    V_global
 64 parallel
  8
   1
    6 unrolled
     2 unrolled
      4 vectorized
       S_sum_init
    8
     2 unrolled
      6 unrolled
       2 unrolled
        4 vectorized
         S_sum
    6 unrolled
     8 vectorized
      S
  6
   8 vectorized
    Max_rf_init
   8
    8 vectorized
     Max_rf
   4 vectorized
    Max_rf_1_init
   2 unrolled
    4 vectorized
     Max_rf_1
   2 vectorized
    Max_rf_2_init
   2 unrolled
    2 vectorized
     Max_rf_2
   Max_init
   2 unrolled
    Max
  6
   8
    8 vectorized
     E
  6
   8 vectorized
    Sum_rf_init
   8
    8 vectorized
     Sum_rf
   4 vectorized
    Sum_rf_1_init
   2 unrolled
    4 vectorized
     Sum_rf_1
   2 vectorized
    Sum_rf_2_init
   2 unrolled
    2 vectorized
     Sum_rf_2
   Sum_init
   2 unrolled
    Sum
  6
   8
    8 vectorized
     P
  2
   1
    6 unrolled
     2 unrolled
      4 vectorized
       O_init
    32
     2 unrolled
      6 unrolled
       2 unrolled
        4 vectorized
         O
    6 unrolled
     8 vectorized
      O_local
)";

TEST_F(RowChain, TilesProductsInsideABlockOfRows) {
  use("row_chain: {accumulators: [2], steps: [2], column_vectors: [2]}");
  const SketchSet set = space_->generate(parsed(kAttention, "n=6,keys=64,heads=64,d=16").program);
  EXPECT_EQ(reason(set, "O"), "applied");
  ASSERT_FALSE(set.sketches.empty());
  EXPECT_EQ(outline(set.sketches[0].program()), kTiledAttention);
}

// Whole blocks of rows need no condition; the last rows have a separate nest.
TEST_F(RowChain, CutsBlocksThatHangOverTheLastRow) {
  use("row_chain: {accumulators: [2], steps: [2], column_vectors: [2]}");
  const SketchSet set = space_->generate(parsed(kAttention, "n=197,keys=192,heads=1,d=16").program);
  EXPECT_EQ(reason(set, "O"), "applied");
  ASSERT_FALSE(set.sketches.empty());
  const Program& program = set.sketches[0].program();
  const auto is_whole = [&](const std::string& block) {
    return is_const_int(program.find_block(block)->predicate, 1);
  };
  for (const std::string product : {"S_sum", "O"}) {
    EXPECT_TRUE(is_whole(product)) << to_string(program);
    ASSERT_NE(program.find_block(product + "_1"), nullptr);
    EXPECT_FALSE(is_whole(product + "_1")) << product;
  }
}

// With caches of a megabyte and more, blocks exceeded the stack, and every draw was refused.
TEST_F(RowChain, KeepsBlocksOfRowsWithinTheStack) {
  // Targets for other processors than this machine's know no caches.
  space_ = std::make_unique<Space>(
      SpacesFile::parse("version: 1\nspaces:\n  s:\n    target: {kind: llvm}\n    modules: [row_chain]\n"
                        "    search: {kind: random}\n    cost_model: {kind: random}\n",
                        "row_chain.yaml")
          .space(""),
      registry_);
  for (const char* parameters : {"n=197,heads=12,d=64", "n=307,heads=4,d=64", "n=401,heads=4,d=64"}) {
    const Workload workload = parsed(kAttention, parameters);
    const SketchSet set = space_->generate(workload.program);
    ASSERT_FALSE(set.sketches.empty());
    for (size_t s = 0; s < set.sketches.size(); ++s) {
      const auto candidate = space_->materialise(
          workload.program, set.sketches[s].trace().with_open_decisions(), RandomStream(1, s));
      EXPECT_TRUE(candidate) << candidate.error().message << candidate.error().detail;
    }
  }
}

TEST_F(RowChain, KeepsTheMeaningOfOddShapes) {
  const std::string finishing =
      "row_chain, parallel_vectorize_unroll: {unroll: [0, 16]}, rewrite_reduction_init, "
      "rewrite_parallel_vectorize_unroll";
  for (const int vector_bits : test::usual_or_extended<std::vector<int>>({128}, {64, 128})) {
    use(finishing, vector_bits);
    for (const char* text : {"softmax:m=37,n=5", "softmax:m=33,n=131", "softmax:m=32,n=64",
                             "layer_norm:m=35,n=37", "layer_norm:m=64,n=200", "norm:b=33,m=3,n=67"})
      expect_right(WorkloadLibrary().load(text), 2);
    for (const char* parameters :
         {"n=12", "n=13,keys=37,d=5", "n=24,keys=64,heads=3,d=16", "n=37,heads=3", "n=101,keys=19,heads=1"})
      expect_right(parsed(kAttention, parameters), 2);
    for (const char* parameters : {"n=36", "n=36,keys=131,d=19", "n=71,keys=20"})
      expect_right(parsed(kDividedLast, parameters), 2);
    expect_right(parsed(kTransposed, "n=36,heads=2"), 2);
    for (const char* parameters : {"n=36", "n=37"}) expect_right(parsed(kEnds, parameters), 2);
    for (const char* parameters : {"n=36,keys=67", "n=41,keys=67"})
      expect_right(parsed(kProbabilities, parameters), 2);
  }
}

TEST_F(RowChain, SeesThroughReducedAxesThatAreKept) {
  use("row_chain, parallel_vectorize_unroll: {unroll: [0, 16]}, rewrite_reduction_init, "
      "rewrite_parallel_vectorize_unroll");
  for (const char* text : {kKeptAxes, kKeptNorm}) {
    for (const char* parameters : {"", "b=3", "b=2,n=13"}) {
      const Workload workload = parsed(text, parameters);
      EXPECT_EQ(reason(space_->generate(workload.program), "O"), "applied") << text << parameters;
      expect_right(workload, 6);
    }
  }
}

TEST_F(RowChain, KeepsOtherModulesAway) {
  use("row_chain, add_rfactor, multi_level_tiling: {structure: SSRSRS}, random_compute_location");
  const SketchSet set = space_->generate(parsed(kAttention, "n=512").program);
  std::set<std::string> claimed;
  for (const ModuleEvent& event : set.events) {
    if (event.module == "row_chain") continue;
    EXPECT_THAT(event.reason, StartsWith("claimed by row_chain")) << event.module << " on " << event.block;
    claimed.insert(event.block);
  }
  for (const char* block : {"S_sum", "S", "Max", "Max_rf", "E", "Sum", "P", "O"})
    EXPECT_TRUE(claimed.contains(block)) << block;
}

TEST_F(RowChain, SaysWhyItDeclines) {
  use("row_chain");
  const auto reason_for = [&](const Workload& workload, const std::string& block) {
    const SketchSet set = space_->generate(workload.program);
    return reason(set, block);
  };
  const auto built_in = [](const char* text) { return WorkloadLibrary().load(text); };
  const std::string nothing = "the block is in no chain of reductions over one row";
  EXPECT_EQ(reason_for(built_in("gmm:n=16,m=8,k=4"), "C"), nothing);
  EXPECT_EQ(reason_for(built_in("avg_pool2d"), "O"), nothing);
  EXPECT_EQ(reason_for(built_in("reduce_sum_2d"), "S"), "the reduction stands alone");
  EXPECT_EQ(reason_for(built_in("softmax:m=1,n=64"), "O"), "there are too few rows to run in parallel");
  const auto rows = static_cast<int64_t>(space_->device().get("cores")) + 1;
  EXPECT_EQ(reason_for(built_in(fmt::format("softmax:m={},n=64", rows).c_str()), "O"),
            "the cores would share so few rows unevenly");
  EXPECT_EQ(reason_for(built_in("softmax:m=64,n=4194304"), "O"), "a row does not fit the second-level cache");
  const Workload both = parsed(R"(name: both
inputs:
  X: {shape: [64, 32], dtype: f32}
compute: |
  Sum[i<64] = sum(j<32) X[i, j]
  O[i<64, j<32] = X[i, j] / Sum[i]
outputs: [Sum, O]
)");
  EXPECT_EQ(reason_for(both, "O"), "a result of the chain is used outside before its end");
}

TEST_F(RowChain, ReadsTransposedOperandsWhereTheyLie) {
  use("row_chain, auto_inline");
  const SketchSet set = space_->generate(parsed(kTransposed, "n=512").program);
  EXPECT_EQ(reason(set, "O"), "applied");
  for (const Schedule& sketch : set.sketches) {
    for (const char* copy : {"QT", "KT", "VT"}) EXPECT_EQ(sketch.program().find_block(copy), nullptr) << copy;
    for (const char* panels : {"K_global", "V_global"})
      EXPECT_NE(sketch.program().find_block(panels), nullptr) << panels;
  }
}

// Zero points of integers need the sums of rows: no reduction reads the product, and a unit may compute it.
TEST_F(RowChain, LeavesAProductOutsideThatNoReductionReads) {
  use("row_chain");
  const Workload zero_points = parsed(R"(name: zero_points
inputs:
  X: {shape: [64, 128], dtype: u8}
  W: {shape: [128, 64], dtype: i8}
  Z: {shape: [1], dtype: i8}
compute: |
  P[i<64, j<64] = sum(r<128) i32(X[i, r]) * i32(W[r, j])
  Sum[i<64] = sum(r<128) i32(X[i, r])
  O[i<64, j<64] = P[i, j] - i32(Z[0]) * Sum[i]
outputs: [O]
)");
  const SketchSet set = space_->generate(zero_points.program);
  EXPECT_EQ(reason(set, "P"), "the block is in no chain of reductions over one row");
  EXPECT_EQ(reason(set, "O"), "applied");
}

// Each block reads the one before twice, so 2^40 paths lead to the last.
TEST_F(RowChain, LooksOnceAtWhatIsReadTwice) {
  use("row_chain");
  std::string statements;
  std::string last = "P";
  for (int i = 0; i < 40; ++i) {
    const std::string next = fmt::format("A{}", i);
    statements += fmt::format(
        "  H{0}[i<8, j<8] = {1}[i, j] * 0.5\n  {2}[i<8, j<8] = {1}[i, j] + H{0}[i, j]\n", i, last, next);
    last = next;
  }
  const std::string definition = fmt::format(R"(name: residuals
inputs:
  X: {{shape: [8, 8], dtype: f32}}
  W: {{shape: [8, 8], dtype: f32}}
compute: |
  P[i<8, j<8] = sum(r<8) X[i, r] * W[r, j]
  Sum[i<8] = sum(r<8) X[i, r]
{0}  O[i<8, j<8] = {1}[i, j] - Sum[i]
outputs: [O]
)",
                                             statements, last);
  const Workload residuals = parsed(definition.c_str());
  EXPECT_EQ(reason(space_->generate(residuals.program), "P"),
            "the block is in no chain of reductions over one row");
}

// A product whose weights fit no cache is tiled separately, and so is the block that writes it.
TEST_F(RowChain, LeavesLargeProductsOutside) {
  use("row_chain");
  const Workload norm = parsed(kEnds, "n=64,k=4096,m=4096");
  const SketchSet after = space_->generate(norm.program);
  EXPECT_EQ(reason(after, "O"), "the block is in no chain of reductions over one row");
  EXPECT_EQ(reason(after, "N"), "applied");
  const Workload residual = parsed(R"(name: residual
inputs:
  X: {shape: [64, 4096], dtype: f32}
  W: {shape: [4096, 2048], dtype: f32}
  R: {shape: [64, 2048], dtype: f32}
compute: |
  D[i<64, j<2048] = sum(r<4096) X[i, r] * W[r, j]
  A[i<64, j<2048] = D[i, j] + R[i, j]
  Sum[i<64] = sum(j<2048) A[i, j]
  O[i<64, j<2048] = A[i, j] - Sum[i]
outputs: [O]
)");
  const SketchSet before = space_->generate(residual.program);
  EXPECT_EQ(reason(before, "A"), "the block is in no chain of reductions over one row");
  EXPECT_EQ(reason(before, "O"), "applied");
}

}  // namespace
}  // namespace tunesmith
