// The modules register_tile and partition_edges: their programs for contractions.
#include <algorithm>
#include <sstream>
#include <string>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <tunesmith/ir/printer.h>
#include <tunesmith/space/space.h>
#include <tunesmith/space/spaces_file.h>
#include <tunesmith/workload/library.h>

#include "extended.h"
#include "same_results.h"

namespace tunesmith {
namespace {

using testing::HasSubstr;
using testing::Not;
using tunesmith_test::SameResults;

/// Two products of one input, and the product of their results.
constexpr const char* kGated =
    "name: gated\nparams: {n: 9, k: 10, m: 37}\n"
    "inputs:\n  X: {shape: [n, k], dtype: f32}\n  G: {shape: [k, m], dtype: f32, constant: true}\n"
    "  U: {shape: [k, m], dtype: f32, constant: true}\ncompute: |\n"
    "  Gate[i<n, j<m] = sum(r<k) X[i, r] * G[r, j]\n  Up[i<n, j<m] = sum(r<k) X[i, r] * U[r, j]\n"
    "  O[i<n, j<m] = Gate[i, j] * sigmoid(Gate[i, j]) * Up[i, j]\noutputs: [O]\n";

/// A convolution of a scaled input, followed by a residual.
constexpr const char* kResidual =
    "name: residual\nparams: {h: 9, w: 11, c: 6, f: 21}\n"
    "inputs:\n  X: {shape: [h, w, c], dtype: f32}\n  R: {shape: [h, w, f], dtype: f32}\n"
    "  W: {shape: [3, 3, c, f], dtype: f32, constant: true}\ncompute: |\n"
    "  S[y<h, x<w, r<c] = X[y, x, r] * 0.5\n"
    "  P[y<h+2, x<w+2, r<c] = select(1 <= y and y < h + 1 and 1 <= x and x < w + 1, S[y - 1, x - 1, r], "
    "0.0)\n"
    "  C[y<h, x<w, o<f] = sum(a<3, b<3, r<c) P[y + a, x + b, r] * W[a, b, r, o]\n"
    "  O[y<h, x<w, o<f] = max(C[y, x, o] + R[y, x, o], 0.0)\noutputs: [O]\n";

/// The columns of an operand that has them first are padded.
constexpr const char* kPaddedColumns =
    "name: padded_columns\ninputs:\n  X: {shape: [16, 24], dtype: f32}\n  W: {shape: [29, 24], dtype: f32}\n"
    "compute: |\n  P[j<32, r<24] = select(j < 29, W[j, r], 0.0)\n"
    "  O[i<16, j<32] = sum(r<24) X[i, r] * P[j, r]\noutputs: [O]\n";

/// A 1 x 1 convolution of a batch of small images, with or without a reader, and with or without strides.
std::string pointwise(bool has_reader, bool strided) {
  const std::string sum =
      strided ? "sum(r<10) X[n, 2*y, x, r] * W[o, r]" : "sum(r<10) X[n, y, x, r] * W[o, r]";
  const std::string extents = "[n<2, y<5, x<7, o<21]";
  return "name: pointwise\ninputs:\n  X: {shape: [2, " + std::to_string(strided ? 10 : 5) +
         ", 7, 10], dtype: f32}\n"
         "  R: {shape: [2, 5, 7, 21], dtype: f32}\n  W: {shape: [21, 10], dtype: f32, constant: true}\n"
         "compute: |\n" +
         (has_reader ? "  C" + extents + " = " + sum + "\n  O" + extents +
                           " = max(C[n, y, x, o] + R[n, y, x, o], 0.0)\n"
                     : "  O" + extents + " = " + sum + " * R[n, y, x, 0]\n") +
         "outputs: [O]\n";
}

class RegisterTile : public testing::Test {
 protected:
  Program parse(const char* text) {
    return WorkloadDefinition::parse(text, "w.yaml").instantiate().program.clone();
  }
  Program load(const char* name) { return WorkloadLibrary().load(name).program.clone(); }

  /// Finished programs of `draws` random candidates, a third as many in the suite.
  std::vector<CandidatePtr> draw(const Program& program, uint64_t draws) {
    const SketchSet set = space_.generate(program);
    std::vector<CandidatePtr> candidates;
    draws = test::usual_or_extended(draws / 3, draws);
    for (uint64_t i = 0; i < draws; ++i) {
      const Trace sketch = set.sketches[i % set.sketches.size()].trace().with_open_decisions();
      auto candidate = space_.materialise(program, sketch, RandomStream(7, i));
      if (candidate) candidates.push_back(std::move(*candidate));
    }
    return candidates;
  }

  PluginRegistry registry_;
  Space space_{SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cpu"), registry_};
};

TEST_F(RegisterTile, KeepsTheMeaningOfGroups) {
  for (const char* text : {kGated, kResidual, kPaddedColumns}) {
    const Program program = parse(text);
    const SameResults results(program);
    for (const CandidatePtr& candidate : draw(program, 40)) results.expect_of(*candidate);
  }
}

// Contiguous lines of an image form a single run of rows; with strides they do not.
TEST_F(RegisterTile, RowsThatFollowEachOtherAreFused) {
  for (const bool has_reader : {true, false}) {
    for (const bool strided : {true, false}) {
      const std::string text = pointwise(has_reader, strided);
      const Program program = parse(text.c_str());
      const SameResults results(program);
      for (const CandidatePtr& candidate : draw(program, 24)) {
        results.expect_of(*candidate);
        const std::string map = strided ? "(d1) * 7 + d2" : "((d0) * 5 + d1) * 7 + d2";
        EXPECT_EQ(candidate->trace.str().find(map) != std::string::npos, !strided) << candidate->trace.str();
      }
    }
  }
}

TEST_F(RegisterTile, ProductsWithOneReaderShareTheirLoops) {
  const SketchSet set = space_.generate(parse(kGated));
  ASSERT_FALSE(set.sketches.empty());
  for (const Schedule& sketch : set.sketches) {
    EXPECT_THAT(sketch.trace().str(), HasSubstr("merge("));
    const std::string program = to_string(sketch.program());
    EXPECT_THAT(program, HasSubstr("intermediate Gate: f32[9, 37] local"));
    EXPECT_THAT(program, HasSubstr("intermediate Up: f32[9, 37] local"));
  }
}

TEST_F(RegisterTile, PanelsAreLaidNowhereInsideOrAhead) {
  const SketchSet set = space_.generate(load("gmm:n=64,m=64,k=64"));
  const auto count = [&](const char* text) {
    return std::ranges::count_if(set.sketches, [&](const Schedule& sketch) {
      return sketch.trace().str().find(text) != std::string::npos;
    });
  };
  const int64_t widths = count("cache_write(") - count("cache_read(");  // classes of widths, in two orders
  EXPECT_GE(widths, 2);
  EXPECT_EQ(count("\ncompute_at("), widths / 2);
  EXPECT_GE(count("transform_layout("), 2);
  EXPECT_EQ(count("cache_read("), count("\ncompute_at(") + count("transform_layout("));
}

// Applies if panels are contiguous, and all tiles of a panel are computed before the next is read.
TEST_F(RegisterTile, FetchesTheNextPanel) {
  for (const char* text : {"gmm:n=64,m=64,k=64", "conv2d:h=7,w=7,ci=64,co=128,kernel=3"}) {
    size_t fetching = 0;
    const SketchSet set = space_.generate(load(text));
    for (const Schedule& sketch : set.sketches) {
      const std::string trace = sketch.trace().str();
      if (trace.find("prefetch_behind") == std::string::npos) continue;
      ++fetching;
      EXPECT_THAT(trace, HasSubstr("transform_layout("));
    }
    EXPECT_GT(fetching, 0U) << text;
  }
}

// Each drawn tile leaves registers for a row of operands and for their multiplier.
TEST_F(RegisterTile, TilesFitTheVectorRegisters) {
  const auto lanes = static_cast<int64_t>(space_.device().get("vector_bits") / 32);
  const auto registers = static_cast<int64_t>(space_.device().get("vector_registers_used_by_tile"));
  for (const char* text : {"gmm:n=64,m=128,k=64", "conv2d:h=7,w=7,ci=8,co=128,kernel=3",
                           "depthwise_conv2d:h=30,w=30,c=64,kernel=3"}) {
    for (const CandidatePtr& candidate : draw(load(text), 60)) {
      std::istringstream lines(to_string(candidate->lowered.program));
      for (std::string line; std::getline(lines, line);) {
        const size_t shape = line.find(": f32[");
        if (line.find("alloc ") == std::string::npos || line.find("] register") == std::string::npos)
          continue;
        std::istringstream extents(line.substr(shape + 6));
        int64_t elements = 1;
        int64_t extent = 1;
        for (char comma = ','; comma == ',' && extents >> extent; extents >> comma) elements *= extent;
        EXPECT_LE(elements / lanes + 2, registers) << text << "\n" << candidate->trace.str();
      }
    }
  }
}

// A choice would only make equal programs with another number that none of their blocks uses.
TEST_F(RegisterTile, NothingIsLeftToUnroll) {
  const auto draws = [&](const char* text) {
    return std::ranges::count_if(space_.generate(load(text)).sketches, [](const Schedule& sketch) {
      return sketch.trace().str().find("annotate(root, \"unroll_steps\", 0)") == std::string::npos;
    });
  };
  EXPECT_EQ(draws("gmm:n=64,m=64,k=64"), 0);
  EXPECT_EQ(draws("gmm:n=64,m=64,k=7"), 0);
  EXPECT_GT(draws("avg_pool2d:h=8,w=8,c=16,kernel=2,stride=2,padding=0"), 0);
}

// A tile takes whole rows of 7 outputs, several at once.
TEST_F(RegisterTile, RowsOfATileAreOverTwoIteratorsWhereTheLastIsShort) {
  const Program program = load("conv2d:h=7,w=7,ci=4,co=37,kernel=3");
  const SameResults results(program);
  int both = 0;
  for (const CandidatePtr& candidate : draw(program, 60)) {
    results.expect_of(*candidate);
    both += to_string(candidate->lowered.program).find("O_local: f32[1, 2, 7, ") != std::string::npos ? 1 : 0;
  }
  // Two rows of seven sums, an operand and its multiplier.
  EXPECT_EQ(both > 0, space_.device().get("vector_registers_used_by_tile") >= 16);
  for (const CandidatePtr& candidate : draw(load("conv2d:h=28,w=28,ci=4,co=37,kernel=3"), 60))
    EXPECT_THAT(to_string(candidate->lowered.program), Not(HasSubstr("O_local: f32[1, 2, ")));
}

TEST_F(RegisterTile, ADepthwiseConvolutionHasAllTapsOfATileWrittenOut) {
  for (const char* text :
       {"depthwise_conv2d:h=9,w=11,c=21,kernel=3", "depthwise_conv2d:h=12,w=9,c=40,kernel=3,stride=2",
        "depthwise_conv2d:h=8,w=30,c=16,kernel=5,padding=2,dilation=1"}) {
    const Program program = load(text);
    const SketchSet set = space_.generate(program);
    ASSERT_FALSE(set.sketches.empty()) << text;
    for (const Schedule& sketch : set.sketches) {
      const std::string trace = sketch.trace().str();
      EXPECT_NE(trace.find("compute_inline(") == std::string::npos,
                trace.find("\ncompute_at(") == std::string::npos)
          << "padding is read in place, or copied for a block of columns";
      EXPECT_THAT(trace, Not(HasSubstr("sample_compute_location(")));
      EXPECT_THAT(
          to_string(sketch.program()),
          HasSubstr("for kx in 0.." + std::string(text).substr(std::string(text).find("kernel=") + 7, 1) +
                    " unrolled:"));
    }
    const SameResults results(program);
    for (const CandidatePtr& candidate : draw(program, 30)) results.expect_of(*candidate);
  }
}

// Weights in ONNX's layout are copied with the channels last, without panels, so that tiles of all widths can
// read them.
TEST_F(RegisterTile, WeightsOfADepthwiseConvolutionAreCopiedAsAWhole) {
  const Program program = parse(
      "name: depthwise\ninputs:\n  X: {shape: [9, 11, 70], dtype: f32}\n"
      "  W: {shape: [70, 3, 3], dtype: f32, constant: true}\ncompute: |\n"
      "  O[y<7, x<9, f<70] = sum(ky<3, kx<3) X[y + ky, x + kx, f] * W[f, ky, kx]\noutputs: [O]\n");
  const SketchSet set = space_.generate(program);
  ASSERT_FALSE(set.sketches.empty());
  for (const Schedule& sketch : set.sketches) {
    const std::string trace = sketch.trace().str();
    EXPECT_THAT(trace, HasSubstr("reindex_cache_read("));
    EXPECT_THAT(trace, Not(HasSubstr("transform_layout(")));
  }
  const SameResults results(program);
  for (const CandidatePtr& candidate : draw(program, 20)) results.expect_of(*candidate);
}

// A sum of many terms cannot be unrolled completely, only some of its steps.
TEST_F(RegisterTile, SeparateColumnsOfALongReductionHaveSteps) {
  const Program program = parse(
      "name: products\ninputs:\n  X: {shape: [9, 128, 20], dtype: f32}\n  W: {shape: [128, 20], dtype: f32}\n"
      "compute: |\n  O[i<9, f<20] = sum(r<128) X[i, r, f] * W[r, f]\noutputs: [O]\n");
  const SameResults results(program);
  for (const CandidatePtr& candidate : draw(program, 20)) {
    EXPECT_THAT(to_string(candidate->lowered.program), Not(HasSubstr("in 0..128 unrolled")));
    results.expect_of(*candidate);
  }
}

// This includes the sums of two products with one reader, and of a matrix packed inside the loops.
TEST_F(RegisterTile, LongSumsAreAddedUpInParts) {
  std::string gated = kGated;
  gated.replace(gated.find("k: 10"), 5, "k: 1152");
  for (const Program& program :
       {parse(gated.c_str()), load("gmm:n=5,m=20,k=1152"), load("gmm:n=5,m=37,k=1152,constant_b=1")}) {
    const SameResults results(program);
    const std::vector<CandidatePtr> candidates = draw(program, 12);
    EXPECT_EQ(candidates.size(), test::usual_or_extended(4U, 12U));
    for (const CandidatePtr& candidate : candidates) {
      EXPECT_THAT(candidate->trace.str(), HasSubstr("rfactor("));
      EXPECT_THAT(to_string(candidate->lowered.program), HasSubstr("in 0..6"));  // parts of 192
      results.expect_of(*candidate);
    }
  }
  // Sums without a divisor between 128 and 256, and sums of integers, are not split.
  for (const char* text : {"gmm:n=9,m=20,k=1031", "gmm:n=9,m=20,k=1152,dtype=i8", "gmm:n=9,m=20,k=1024"}) {
    for (const Schedule& sketch : space_.generate(load(text)).sketches)
      EXPECT_THAT(sketch.trace().str(), Not(HasSubstr("rfactor("))) << text;
  }
}

/// The module's answer for the block O.
std::string answer_for(const SketchSet& set) {
  for (const ModuleEvent& event : set.events) {
    if (event.module == "register_tile" && event.block == "O")
      return event.status == ModuleResult::Status::Applied ? "applied" : event.reason;
  }
  return "not asked";
}

// A tile lies in one group, where all columns have the same operands.
TEST_F(RegisterTile, GroupsOfColumnsAreTiledOneByOne) {
  for (const char* text :
       {"conv2d:h=6,w=9,ci=8,co=64,kernel=3,groups=2", "conv2d:h=7,w=7,ci=12,co=96,kernel=3,groups=4",
        "conv2d:h=5,w=5,ci=20,co=20,kernel=3,groups=20"}) {
    const Program program = load(text);
    EXPECT_EQ(answer_for(space_.generate(program)), "applied") << text;
    const SameResults results(program);
    for (const CandidatePtr& candidate : draw(program, 40)) {
      results.expect_of(*candidate);
      EXPECT_THAT(to_string(candidate->lowered.program), Not(testing::ContainsRegex("ramp[^)]*[)]//")))
          << "each lane would ask for its group";
    }
  }
  EXPECT_EQ(answer_for(space_.generate(load("conv2d:h=7,w=7,ci=8,co=8,kernel=3,groups=4"))),
            "its groups of columns fill less than half a vector");
}

// Every second row uses the same weights.
TEST_F(RegisterTile, TransposedConvolutionsHaveRowsOfWholePeriods) {
  for (const char* text :
       {"transposed_conv2d:h=4,w=4,ci=8,co=21", "transposed_conv2d:h=5,w=9,ci=4,co=48,kernel=3,stride=2"}) {
    const Program program = load(text);
    EXPECT_EQ(answer_for(space_.generate(program)), "applied") << text;
    const SameResults results(program);
    for (const CandidatePtr& candidate : draw(program, 40)) results.expect_of(*candidate);
  }
  for (const Schedule& sketch : space_.generate(load("transposed_conv2d:h=8,w=8,ci=8,co=16")).sketches)
    EXPECT_THAT(sketch.trace().str(), Not(HasSubstr("sample_categorical([4, 5"))) << "5 rows are no period";
}

// In ONNX's layout the taps are the last dimensions, and the columns stand before them.
TEST_F(RegisterTile, PhasesOfTransposedWeightsAreLaidInPanels) {
  for (const char* parameters : {"{k: 2, taps: 1}", "{k: 4, taps: 2}"}) {
    const std::string text =
        std::string("name: transposed\nparams: ") + parameters +
        "\ninputs:\n  X: {shape: [5, 6, 7], dtype: f32}\n"
        "  W: {shape: [7, 40, k, k], dtype: f32, constant: true}\n"
        "  B: {shape: [40], dtype: f32, constant: true}\ncompute: |\n"
        "  P[y<7, x<8, c<7] = select(1 <= y and y < 6 and 1 <= x and x < 7, X[y - 1, x - 1, c], 0.0)\n"
        "  T[y<10, x<12, o<40] = sum(c<7, a<taps, b<taps) P[y // 2 - a + 1, x // 2 - b + 1, c]\n"
        "      * W[c, o, y % 2 + 2*a, x % 2 + 2*b]\n"
        "  O[y<10, x<12, o<40] = T[y, x, o] + B[o]\noutputs: [O]\n";
    const Program program = parse(text.c_str());
    const SameResults results(program);
    for (const CandidatePtr& candidate : draw(program, 40)) {
      results.expect_of(*candidate);
      const std::string trace = candidate->trace.str();
      EXPECT_THAT(trace, HasSubstr("(d0, d1, d2, d3) -> (d2, d3, d0, d1)"))
          << "the reduction moves along a panel";
      EXPECT_THAT(trace, HasSubstr("(d0, d1, d2, d3) -> (d3 // "));
    }
  }
}

// Their vectors are masked, and each row's results have separate registers.
TEST_F(RegisterTile, AFewColumnsAreAMaskedVector) {
  for (const char* text : {"gmm:n=33,m=13,k=7", "gmm:n=33,m=6,k=24", "gmm:n=33,m=37,k=7"}) {
    const Program program = load(text);
    const SameResults results(program);
    for (const CandidatePtr& candidate : draw(program, 40)) {
      results.expect_of(*candidate);
      std::istringstream lines(to_string(candidate->lowered.program));
      for (std::string line; std::getline(lines, line);) {
        const bool sums = line.find("alloc C_local") != std::string::npos;
        EXPECT_TRUE(!sums || line.find("] register") != std::string::npos)
            << to_string(candidate->lowered.program);
      }
    }
  }
}

// Split into edges and the part between them, the outermost loop becomes a sequence of loops.
TEST_F(RegisterTile, PiecesOfTheOutermostLoopRunInParallel) {
  const int64_t cores = std::max<int64_t>(1, static_cast<int64_t>(space_.device().get("cores")));
  const auto rows_in_parallel = [&](int64_t height) {
    int found = 0;
    const Program program =
        load(("depthwise_conv2d:h=" + std::to_string(height) + ",w=20,c=16,kernel=3").c_str());
    for (const CandidatePtr& candidate : draw(program, 20)) {
      const std::string text = to_string(candidate->lowered.program);
      EXPECT_THAT(text, HasSubstr(" parallel:")) << candidate->trace.str();
      found += candidate->trace.str().find("loop_partition(") != std::string::npos ? 1 : 0;
    }
    return found;
  };
  EXPECT_GT(rows_in_parallel(16 * cores), 0);
}

TEST_F(RegisterTile, AConstantOperandIsLaidAheadAlone) {
  for (const Schedule& sketch : space_.generate(load("gmm:n=64,m=64,k=64,constant_b=1")).sketches)
    EXPECT_THAT(sketch.trace().str(), Not(HasSubstr("\ncompute_at(")));
}

TEST_F(RegisterTile, ATransposedOperandIsAlwaysLaidInPanels) {
  for (const Schedule& sketch : space_.generate(load("attention_scores:seq=32,heads=2,dim=16")).sketches)
    EXPECT_THAT(sketch.trace().str(), HasSubstr("reindex_cache_read("));
}

// A copy along the panel would read each line of the operand once for each of its elements.
TEST_F(RegisterTile, ATransposedOperandIsCopiedInSquares) {
  for (const auto& [terms, side] : {std::pair{128, "64"}, {48, "16"}}) {
    const Program program = parse(("name: turned\ninputs:\n  X: {shape: [9, " + std::to_string(terms) +
                                   "], dtype: f32}\n  W: {shape: [21, " + std::to_string(terms) +
                                   "], dtype: f32}\ncompute: |\n  O[i<9, j<21] = sum(r<" +
                                   std::to_string(terms) + ") X[i, r] * W[j, r]\noutputs: [O]\n")
                                      .c_str());
    const SameResults results(program);
    size_t inside = 0;
    for (const CandidatePtr& candidate : draw(program, 16)) {
      results.expect_of(*candidate);
      const std::string trace = candidate->trace.str();
      if (trace.find("\ncompute_at(") == std::string::npos) continue;
      ++inside;
      EXPECT_THAT(trace, HasSubstr(std::string("[None, ") + side + "])"));
    }
    EXPECT_GT(inside, 0U) << terms;
  }
}

// Fused into the tiles, scaling or a ReLU would be repeated for each tile instead of once for each element.
TEST_F(RegisterTile, ArithmeticStaysAheadOfAContraction) {
  for (const char* scaled : {"X[i, r] * 0.5", "max(X[i, r], 0)"}) {
    const Program program =
        parse(("name: scaled\ninputs:\n  X: {shape: [16, 24], dtype: f32}\n  W: {shape: [24, 32], dtype: "
               "f32}\ncompute: |\n  S[i<16, r<24] = " +
               std::string(scaled) + "\n  O[i<16, j<32] = sum(r<24) S[i, r] * W[r, j]\noutputs: [O]\n")
                  .c_str());
    for (const Schedule& sketch : space_.generate(program).sketches)
      EXPECT_THAT(sketch.trace().str(), HasSubstr("sample_compute_location("));
  }
}

TEST_F(RegisterTile, TilesThatHangOverArePiecesOfTheirOwn) {
  for (const CandidatePtr& candidate : draw(load("gmm:n=61,m=64,k=32"), 60)) {
    EXPECT_THAT(candidate->trace.str(), HasSubstr("loop_partition("));
    std::istringstream lines(to_string(candidate->lowered.program));
    for (std::string line; std::getline(lines, line);) {
      if (line.find("*B[") == std::string::npos) continue;
      EXPECT_THAT(line, Not(HasSubstr(" if "))) << candidate->trace.str();
    }
  }
}

// If an extension of the space has the instruction, it multiplies four bytes, or two bf16, at once.
TEST_F(RegisterTile, DotProductsAreCallsOfAUnit) {
  if (space_.callable_intrinsics().size() < 2)
    GTEST_SKIP() << "this machine or build lacks an instruction for dot products";
  for (const char* text :
       {"gmm:n=13,m=48,k=24,dtype=u8,b_dtype=i8", "gmm:n=13,m=48,k=24,dtype=bf16,constant_b=1",
        "conv2d:h=5,w=6,ci=8,co=32,kernel=3,dtype=u8,w_dtype=i8"}) {
    const Program program = load(text);
    const SketchSet set = space_.generate(program);
    const SameResults results(program);
    ASSERT_FALSE(set.sketches.empty()) << text;
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      EXPECT_THAT(set.sketches[i].trace().str(), HasSubstr("tensorize(")) << text;
      const auto candidate =
          space_.materialise(program, set.sketches[i].trace().with_open_decisions(), RandomStream(3, i));
      ASSERT_TRUE(candidate) << candidate.error().message;
      results.expect_of(**candidate);
    }
  }
}

// Their columns are padded in the panels, and readers of the result take the existing ones.
TEST_F(RegisterTile, RaggedColumnsOfAUnitArePadded) {
  if (space_.callable_intrinsics().size() < 2)
    GTEST_SKIP() << "this machine or build lacks an instruction for dot products";
  const std::string biased =
      "name: biased\ninputs:\n  X: {shape: [13, 24], dtype: u8}\n"
      "  W: {shape: [24, 37], dtype: i8, constant: true}\n  R: {shape: [13, 37], dtype: i32}\ncompute: |\n"
      "  C[i<13, j<37] = sum(r<24) i32(X[i, r]) * i32(W[r, j])\n"
      "  O[i<13, j<37] = C[i, j] + R[i, j]\noutputs: [O]\n";
  for (const Program& program :
       {load("gmm:n=13,m=40,k=24,dtype=u8,b_dtype=i8"), load("gmm:n=13,m=61,k=24,dtype=bf16,constant_b=1"),
        load("conv2d:h=5,w=6,ci=8,co=27,kernel=3,dtype=u8,w_dtype=i8"), parse(biased.c_str())}) {
    const SketchSet set = space_.generate(program);
    const SameResults results(program);
    ASSERT_FALSE(set.sketches.empty());
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      EXPECT_THAT(set.sketches[i].trace().str(), HasSubstr("tensorize(")) << to_string(program);
      EXPECT_THAT(set.sketches[i].trace().str(), HasSubstr("pad_einsum("));
      results.expect_of_draws(space_, set, i, 6);
    }
  }
}

// Padding in place cannot be copied into panels, so only tiles that read it from a buffer remain.
TEST_F(RegisterTile, SaysWhyThereAreNotMoreSketches) {
  const SketchSet set = space_.generate(load("gmm:n=64,m=64,k=64"));
  const auto made = [](const SketchSet& of) {
    return std::ranges::find_if(of.events,
                                [](const ModuleEvent& event) { return event.module == "register_tile"; });
  };
  EXPECT_EQ(made(set)->reason, "");
  const SketchSet fewer = space_.generate(parse(kPaddedColumns));
  EXPECT_EQ(made(fewer)->status, ModuleResult::Status::Applied);
  EXPECT_EQ(made(fewer)->reason, "the access may lie outside the buffer");
}

TEST_F(RegisterTile, AnEmptyListOfSizesIsRefused) {
  const SpacesFile file = SpacesFile::parse(
      "version: 1\nspaces:\n  s:\n    target: {kind: llvm}\n    modules: [{register_tile: {panel_vectors: "
      "[]}}]\n"
      "    search: {kind: random}\n    cost_model: {kind: random}\n",
      "s.yaml");
  EXPECT_THROW(Space(file.space("s"), registry_), UserError);
}

}  // namespace
}  // namespace tunesmith
