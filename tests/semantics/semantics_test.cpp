#include <algorithm>
#include <cmath>
#include <string>
#include <tuple>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/ir/visit.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/trace/schedule.h>
#include <tunesmith/verification/interpreter.h>
#include <tunesmith/workload/library.h>

#include "reads_back.h"
#include "same_results.h"

namespace tunesmith {
namespace {

using tunesmith_test::SameResults;

std::unique_ptr<Space> make_space(PluginRegistry& registry, const std::string& name) {
  return std::make_unique<Space>(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space(name), registry);
}

/// The space `cpu` without register tiles, so that multi-level tiling gets contractions.
std::unique_ptr<Space> make_tiling_space(PluginRegistry& registry) {
  const SpacesFile file = SpacesFile::parse(
      "version: 1\nspaces:\n  tiling:\n    extends: cpu\n    modules+: [{remove: register_tile}, {remove: "
      "winograd}]\n",
      "tiling.yaml");
  return std::make_unique<Space>(file.space("tiling"), registry);
}

class BuiltInSpaces : public testing::TestWithParam<std::tuple<const char*, const char*>> {};

TEST_P(BuiltInSpaces, KeepTheMeaningOfTheProgram) {
  const auto [space_name, text] = GetParam();
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_space(registry, space_name);
  const Workload workload = WorkloadLibrary().load(text);
  const SameResults results(workload.program);
  const SketchSet set = space->generate(workload.program);
  ASSERT_FALSE(set.sketches.empty());
  int compared = 0;
  for (size_t s = 0; s < set.sketches.size(); ++s) {
    for (uint64_t draw = 0; draw < 3; ++draw) {
      const auto candidate = space->materialise(
          workload.program, set.sketches[s].trace().with_open_decisions(), RandomStream(draw, s));
      if (!candidate) {
        // A program may exceed the machine's limits, but an illegal schedule would be a module's mistake.
        EXPECT_EQ(candidate.error().cause, FailureCause::VerifyLimits) << candidate.error().message;
        continue;
      }
      results.expect_of(**candidate);
      ++compared;
    }
  }
  EXPECT_GT(compared, 0);
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, BuiltInSpaces,
    testing::Combine(testing::Values("cpu", "cpu-paper"),
                     testing::Values("gmm:n=16,m=24,k=8", "gmm:n=7,m=11,k=13", "gmm:n=3,m=131,k=67",
                                     "conv2d:h=8,w=8,ci=4,co=8,kernel=3",
                                     "conv2d:h=7,w=9,ci=3,co=5,kernel=3,stride=2",
                                     "conv2d:h=6,w=6,ci=4,co=8,kernel=3,groups=2",
                                     "depthwise_conv2d:h=7,w=7,c=8", "dense_bias_gelu:n=12,m=8,k=10",
                                     "conv_bias_bn_relu:h=6,w=6,ci=3,co=8", "softmax:m=5,n=37",
                                     "layer_norm:m=5,n=37", "norm:m=9,n=10", "elementwise_chain:n=13,m=11",
                                     "max_pool2d:h=9,w=8,c=3", "reduce_sum_1d:n=101", "reduce_sum_1d:n=3",
                                     "attention_scores:seq=6,heads=2,dim=5", "gram:n=13,k=7",
                                     "gram:b=2,n=8,k=12", "gmm_tf32:n=7,m=11,k=13",
                                     "transposed_conv2d:h=3,w=3,ci=4,co=5")),
    [](const testing::TestParamInfo<BuiltInSpaces::ParamType>& param) {
      std::string name = std::string(std::get<0>(param.param)) + "_" + std::get<1>(param.param);
      for (char& c : name) c = std::isalnum(static_cast<unsigned char>(c)) != 0 ? c : '_';
      return name;
    });

// The printed text of a program, scheduled or lowered, reads back as the program.
TEST(ProgramText, OfEverySpaceIsTheProgram) {
  const SpacesFile file = SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml");
  PluginRegistry registry;
  for (const std::string& name : file.names()) {
    const Space space(file.space(name), registry, TargetPresence::NotRequired);
    int read = 0;
    for (const char* text :
         {"gmm:n=128,m=128,k=64", "conv2d:h=8,w=8,ci=16,co=32,kernel=3", "softmax:m=16,n=64"}) {
      const Workload workload = WorkloadLibrary().load(text);
      EXPECT_EQ(test::reads_back(workload.program), "");
      const SketchSet set = space.generate(workload.program);
      for (size_t s = 0; s < set.sketches.size(); ++s) {
        const auto candidate = space.materialise(
            workload.program, set.sketches[s].trace().with_open_decisions(), RandomStream(5, s));
        if (!candidate) continue;  // over a limit
        const auto scheduled =
            replay(workload.program, (*candidate)->trace, RandomStream(0), nullptr, space.intrinsics());
        ASSERT_TRUE(scheduled) << name << scheduled.error().what();
        EXPECT_EQ(test::reads_back(scheduled->program()), "") << name;
        EXPECT_EQ(test::reads_back((*candidate)->lowered.program), "") << name;
        if ((*candidate)->lowered.prepare) {
          EXPECT_EQ(test::reads_back((*candidate)->lowered.prepare->program), "") << name;
        }
        ++read;
      }
    }
    EXPECT_GT(read, 0) << name;
  }
}

// Data with the width of an index are not indices: their loads at the odd end of a row are masked.
TEST(CpuSpace, AddsIntegersInOddRows) {
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_space(registry, "cpu");
  for (const char* type : {"i64", "i32", "i8", "u8"}) {
    for (const int64_t rows : {1, 7, 64}) {
      const std::string text = fmt::format(
          "name: add\ninputs:\n  X: {{shape: [{0}, 5], dtype: {1}}}\n  Y: {{shape: [{0}, 5], dtype: {1}}}\n"
          "compute: O[i<{0}, j<5] = X[i, j] + Y[i, j]\noutputs: [O]\n",
          rows, type);
      const Workload workload = WorkloadDefinition::parse(text, "add.yaml").instantiate();
      std::vector<Tensor> wanted = test::random_arguments(workload.program);
      interpret(workload.program, wanted);
      const SketchSet set = space->generate(workload.program);
      for (uint64_t draw = 0; draw < 16; ++draw) {
        const Trace sketch = set.sketches[draw % set.sketches.size()].trace().with_open_decisions();
        const auto candidate = space->materialise(workload.program, sketch, RandomStream(3, draw));
        ASSERT_TRUE(candidate) << candidate.error().message;
        std::vector<Tensor> got = test::random_arguments(workload.program);
        interpret((*candidate)->lowered, got);
        EXPECT_EQ(got, wanted) << to_string((*candidate)->lowered.program);
      }
    }
  }
}

// Unrolled steps count once for each vector: 509 steps on 64 floats are 2036 statements.
TEST(CpuSpace, UnrollPrimeExtentsWithinTheirLimit) {
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_space(registry, "cpu");
  for (const char* text : {"gmm:n=509,m=509,k=509", "conv2d:h=13,w=13,ci=17,co=19"}) {
    const Workload workload = WorkloadLibrary().load(text);
    const SketchSet set = space->generate(workload.program);
    for (uint64_t draw = 0; draw < 200; ++draw) {
      const Trace sketch = set.sketches[draw % set.sketches.size()].trace().with_open_decisions();
      const auto candidate = space->materialise(workload.program, sketch, RandomStream(1, draw));
      EXPECT_TRUE(candidate || candidate.error().message != "the unrolled program is too long") << text;
    }
  }
}

/// The maximum number of unrolled copies of a statement in `stmt`, if loops around make `around` of them.
int64_t max_unrolled(const Stmt& stmt, int64_t around = 1) {
  const Loop* loop = stmt.as<Loop>();
  if (loop != nullptr && loop->loop_kind == LoopKind::Unrolled) around *= loop->const_extent();
  int64_t most = stmt.as<Store>() != nullptr ? around : 0;
  visit_children(stmt, [&](const Stmt& child) { most = std::max(most, max_unrolled(child, around)); });
  return most;
}

// A loop that is vectorized for the copy of a tile also contains the tile's reduction.
TEST(CpuSpace, UnrollsNoMoreThanItsLimitWithVectorsOfOtherBlocks) {
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_space(registry, "cpu-tiling");
  const Workload workload = WorkloadLibrary().load("gmm:n=512,m=512,k=512");
  const SketchSet set = space->generate(workload.program);
  int64_t most = 0;
  for (uint64_t draw = 0; draw < 2000; ++draw) {
    const Trace sketch = set.sketches[draw % set.sketches.size()].trace().with_open_decisions();
    const auto candidate = space->materialise(workload.program, sketch, RandomStream(2, draw));
    if (candidate) most = std::max(most, max_unrolled((*candidate)->lowered.program.root()));
  }
  EXPECT_GT(most, 32);
  EXPECT_LE(most, 48);
}

/// The scores of a tensor with itself; its transposed copies are separate stages.
constexpr const char* kSelfAttention =
    "name: self_attention\nparams: {seq: 32, heads: 2, dim: 16}\n"
    "inputs: {X: {shape: [seq, heads, dim], dtype: f32}}\ncompute: |\n"
    "  QT[h<heads, i<seq, r<dim] = X[i, h, r]\n  KT[h<heads, r<dim, j<seq] = X[j, h, r]\n"
    "  S[h<heads, i<seq, j<seq] = sum(r<dim) QT[h, i, r] * KT[h, r, j]\noutputs: [S]\n";

// Both factors read one buffer: the read along the vectors is packed in their order, the other is not.
TEST(MultiLevelTiling, PacksOneOfTwoReadsOfABuffer) {
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_tiling_space(registry);
  for (const Program& program :
       {WorkloadLibrary().load("gram:n=64,k=32").program.clone(),
        WorkloadDefinition::parse(kSelfAttention, "self_attention.yaml").instantiate().program.clone()}) {
    const SketchSet set = space->generate(program);
    EXPECT_GE(set.sketches.size(), 6U) << program.name;
    const auto packs = [](const Schedule& sketch) {
      return sketch.trace().str().find("reindex_cache_read(") != std::string::npos;
    };
    EXPECT_TRUE(std::any_of(set.sketches.begin(), set.sketches.end(), packs)) << program.name;
    for (const Schedule& sketch : set.sketches) {
      if (!packs(sketch)) continue;
      EXPECT_NE(to_string(sketch.program()).find("X_local["), std::string::npos);
    }
  }
}

// The sizes of tiles that exceed the loop exclude small register tiles, as for a transposed convolution.
TEST(MultiLevelTiling, HasPerfectTilesToo) {
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_tiling_space(registry);
  const SketchSet set = space->generate(WorkloadLibrary().load("gmm:n=64,m=64,k=64").program);
  EXPECT_EQ(set.sketches.size(), 9U);
  const auto perfect = std::ranges::count_if(set.sketches, [](const Schedule& sketch) {
    return sketch.trace().str().find("sample_categorical([4, 6, 7, 12, 14]") == std::string::npos;
  });
  EXPECT_EQ(perfect, 3);
}

// A depthwise convolution's rows share no operand, so tiles that exceed the loop are slower than estimated.
// They remain only if no small tile divides the loop.
TEST(MultiLevelTiling, HasPerfectTilesAloneWhereRowsReadNothingInCommon) {
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_tiling_space(registry);
  const auto sketches = [&](const char* text) {
    return space->generate(WorkloadLibrary().load(text).program).sketches.size();
  };
  EXPECT_EQ(sketches("depthwise_conv2d:h=112,w=112,c=32"), 3U);
  EXPECT_EQ(sketches("depthwise_conv2d:h=113,w=113,c=32"), 9U);
  EXPECT_EQ(sketches("conv2d:h=112,w=112,ci=32,co=32"), 9U);
}

TEST(CpuSpace, PerfectTilesAreNoAdditionWhereAllAre) {
  PluginRegistry registry;
  const SpacesFile file = SpacesFile::parse(
      "version: 1\nspaces:\n  s:\n    target: {kind: llvm}\n    modules:\n"
      "      - multi_level_tiling: {also_perfect: true}\n    search: {kind: random}\n    cost_model: {kind: "
      "random}\n",
      "s.yaml");
  EXPECT_THROW(Space(file.space("s"), registry), UserError);
}

// The public implementation's golden tests: no write reuse, and results cached at the first and second level.
TEST(PaperSpace, HasThreeSketchesForProductsAndConvolutions) {
  PluginRegistry registry;
  const std::unique_ptr<Space> space = make_space(registry, "cpu-paper");
  for (const char* text : {"gmm:n=128,m=128,k=128", "conv2d:h=56,w=56,ci=64,co=64,kernel=1,padding=0",
                           "conv2d:h=14,w=14,ci=256,co=256,kernel=3"}) {
    const SketchSet set = space->generate(WorkloadLibrary().load(text).program);
    ASSERT_EQ(set.sketches.size(), 3U) << text;
    EXPECT_EQ(set.sketches[0].trace().str().find("cache_write"), std::string::npos) << text;
    EXPECT_NE(set.sketches[1].trace().str().find("cache_write"), std::string::npos) << text;
    EXPECT_NE(set.sketches[2].trace().str().find("cache_write"), std::string::npos) << text;
  }
}

}  // namespace
}  // namespace tunesmith
