// Programs of register_tile for a processor with a matrix unit (AMX) are correct when interpreted, and keep
// sums in the unit's registers. Only such a processor can show whether the instructions are correct.
#include <memory>
#include <string>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "semantics/same_results.h"
#include "targets_llvm/assembly_text.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/space.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/random.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

using testing::count_of;
using testing::loop_around;

constexpr const char* kSpaces =
    "version: 1\nspaces:\n  tiles:\n    extends: cpu\n    target: {kind: llvm, mcpu: sapphirerapids, verify: "
    "true, "
    "with: [\"amx_dot?\"]}\n  all:\n    extends: tiles\n    target: {with+: [\"bf16_dot?\"]}\n";

/// A product in bf16 with an epilogue and a residual.
constexpr const char* kDense =
    "name: dense\ninputs:\n  X: {shape: [32, 96], dtype: bf16}\n"
    "  W: {shape: [96, 48], dtype: bf16, constant: true}\n  B: {shape: [48], dtype: f32}\n"
    "  R: {shape: [32, 48], dtype: f32}\ncompute: |\n"
    "  C[i<32, j<48] = sum(r<96) f32(X[i, r]) * f32(W[r, j])\n"
    "  O[i<32, j<48] = relu(C[i, j] + B[j]) + R[i, j]\noutputs: [O]\n";

/// Lines of 16 pixels, which are contiguous in memory.
constexpr const char* kPointwise =
    "name: pointwise\ninputs:\n  X: {shape: [8, 16, 96], dtype: bf16}\n"
    "  W: {shape: [96, 32], dtype: bf16, constant: true}\ncompute: |\n"
    "  O[y<8, x<16, j<32] = sum(r<96) f32(X[y, x, r]) * f32(W[r, j])\noutputs: [O]\n";

struct Case {
  const char* name;
  std::string workload;
  const char* instruction;
  int rows;
};

std::ostream& operator<<(std::ostream& out, const Case& tested) { return out << tested.name; }

class MatrixUnit : public ::testing::TestWithParam<Case> {
 protected:
  void SetUp() override {
    if (const auto& absent = space_.absent_extensions(); !absent.empty())
      GTEST_SKIP() << absent.front().str();
  }

  std::vector<CandidatePtr> candidates() {
    std::vector<CandidatePtr> all;
    const SketchSet set = space_.generate(workload_.program);
    for (size_t i = 0; i < set.sketches.size(); ++i) {
      for (uint64_t draw = 0; draw < 8; ++draw) {
        auto candidate = space_.materialise(workload_.program, set.sketches[i].trace().with_open_decisions(),
                                            RandomStream(draw, i));
        EXPECT_TRUE(candidate) << candidate.error().message;
        if (candidate) all.push_back(*candidate);
      }
    }
    return all;
  }

  PluginRegistry registry_;
  Space space_{SpacesFile::parse(kSpaces, "processors.yaml").space("tiles"), registry_,
               TargetPresence::NotRequired};
  const Workload workload_ = GetParam().workload.find('\n') == std::string::npos
                                 ? WorkloadLibrary().load(GetParam().workload)
                                 : WorkloadDefinition::parse(GetParam().workload, "w.yaml").instantiate();
};

INSTANTIATE_TEST_SUITE_P(
    All, MatrixUnit,
    ::testing::Values(
        Case{"bf16", "gmm:n=64,m=32,k=96,dtype=bf16,constant_b=1", "tdpbf16ps", 16},
        Case{"bytes", "gmm:n=64,m=64,k=192,dtype=u8,b_dtype=i8,acc=i32", "tdpbusd", 16},
        Case{"signed_bytes", "gmm:n=32,m=32,k=192,dtype=i8,b_dtype=i8,acc=i32", "tdpbssd", 16},
        Case{"ragged_columns", "gmm:n=32,m=29,k=96,dtype=bf16,constant_b=1", "tdpbf16ps", 16},
        Case{"lines_of_14", "conv2d:h=14,w=14,ci=32,co=32,kernel=3,dtype=bf16", "tdpbf16ps", 14},
        Case{"lines_of_7", "conv2d:h=7,w=7,ci=64,co=32,kernel=3,dtype=u8,w_dtype=i8", "tdpbusd", 7},
        Case{"lines", kPointwise, "tdpbf16ps", 16},
        Case{"one_step", "gmm:n=32,m=32,k=32,dtype=bf16,constant_b=1", "tdpbf16ps", 16},
        Case{"dense", kDense, "tdpbf16ps", 16}),
    [](const auto& tested) { return std::string(tested.param.name); });

TEST_P(MatrixUnit, TakesProducts) {
  const tunesmith_test::SameResults results(workload_.program);
  const std::vector<CandidatePtr> all = candidates();
  ASSERT_FALSE(all.empty());
  const std::string call = "amx_dot_" + std::to_string(GetParam().rows) + "x16_";
  for (const CandidatePtr& candidate : all) {
    EXPECT_THAT(candidate->trace.str(), ::testing::HasSubstr(call));
    results.expect_of(*candidate);
  }
}

TEST_P(MatrixUnit, KeepsSumsInItsRegisters) {
  size_t most = 0;
  for (const CandidatePtr& candidate : candidates()) {
    SCOPED_TRACE(candidate->trace.str());
    const std::string code = space_.target().assembly(candidate->lowered, "kernel");
    const std::string instruction = std::string("\t") + GetParam().instruction;
    const size_t sums = count_of(code, "\ttilezero");
    EXPECT_EQ(count_of(code, "\ttilestored"), sums) << "one for each sum, and none for a spill or a copy";
    const std::string loop = loop_around(code, instruction);
    most = std::max(most, count_of(loop, instruction));
    if (count_of(loop, "tilezero") > 0) continue;  // the loop has a single step
    EXPECT_EQ(count_of(loop, "tilestored"), 0U) << loop;
    EXPECT_EQ(count_of(loop, "rsp"), 0U) << loop;
  }
  EXPECT_GE(most, 2U);
}

// The search decides between a unit's tiles and vectors, also where only vectors take fused rows.
TEST(MatrixUnits, AreTriedBesideDotProducts) {
  PluginRegistry registry;
  Space space(SpacesFile::parse(kSpaces, "processors.yaml").space("all"), registry,
              TargetPresence::NotRequired);
  if (const auto& absent = space.absent_extensions(); !absent.empty()) GTEST_SKIP() << absent.front().str();
  const Workload workload = WorkloadDefinition::parse(kPointwise, "w.yaml").instantiate();
  std::string traces;
  for (const Schedule& sketch : space.generate(workload.program).sketches) traces += sketch.trace().str();
  EXPECT_THAT(traces, ::testing::HasSubstr("\"amx_dot_16x16_bf16\""));
  EXPECT_THAT(traces, ::testing::HasSubstr("\"bf16_dot_16x2\""));
}

}  // namespace
}  // namespace tunesmith
