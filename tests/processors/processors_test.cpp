// Programs of the space cpu for named processors of several kinds are interpreted and compiled, and run if
// this machine is such a processor or emulates it.
#include <memory>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulated_run.h"
#include "semantics/same_results.h"
#include "targets_llvm/lowered_program.h"
#include "tunesmith/plugin/registry.h"
#include "tunesmith/space/space.h"
#include "tunesmith/space/spaces_file.h"
#include "tunesmith/support/random.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

using ::testing::ContainsRegex;
using ::testing::Not;

constexpr const char* kProduct = "gmm:n=64,m=64,k=64";
constexpr const char* kBytes = "gmm:n=64,m=64,k=64,dtype=u8,b_dtype=i8,acc=i32";
constexpr const char* kHalves = "gmm:n=64,m=64,k=64,dtype=f16,acc=f16";
constexpr const char* kBfloats = "gmm:n=64,m=64,k=64,dtype=bf16";

/// Instructions that the code for a workload must or must not contain.
struct Instructions {
  const char* workload;
  const char* wanted;
  const char* unwanted = "never";
};

struct Processor {
  const char* name;
  int64_t vector_bits = 0;
  std::vector<Instructions> instructions;
};

std::ostream& operator<<(std::ostream& out, const Processor& processor) { return out << processor.name; }

std::unique_ptr<Space> space_for(PluginRegistry& registry, const std::string& name, int64_t vector_bits) {
  const std::string text = fmt::format(
      "version: 1\nspaces:\n  s:\n    extends: cpu\n    target: {{kind: llvm, mcpu: {}, vector_bits: {}, "
      "verify: true, with: [\"vnni?\", \"bf16_dot?\"]}}\n",
      name, vector_bits);
  return std::make_unique<Space>(SpacesFile::parse(text, "processors.yaml").space("s"), registry,
                                 TargetPresence::NotRequired);
}

class OnProcessor : public ::testing::TestWithParam<Processor> {
 protected:
  Space& space() { return *space_; }
  bool is_aarch64() { return space().target().probe().missing == "an AArch64 processor"; }
  /// The candidates of one draw of each sketch; those that are refused are left out.
  std::vector<CandidatePtr> draw(const Workload& workload) {
    std::vector<CandidatePtr> drawn;
    const SketchSet set = space().generate(workload.program);
    for (size_t s = 0; s < set.sketches.size(); ++s) {
      auto candidate = space().materialise(workload.program, set.sketches[s].trace().with_open_decisions(),
                                           RandomStream(7, s));
      if (candidate) drawn.push_back(std::move(*candidate));
    }
    return drawn;
  }
  /// Empty if neither this machine nor an emulator can run it.
  std::vector<Tensor> run(const Candidate& candidate, const std::vector<Tensor>& given) {
    const auto kernel = space().target().compile(candidate.lowered, "kernel");
    if (!kernel) throw Error(kernel.error());
    if (candidate.lowered.prepare) return {};  // the callers of tests prepare nothing
    if (space().target().probe().here()) {
      std::vector<Tensor> got = given;
      std::vector<void*> buffers;
      for (Tensor& tensor : got) buffers.push_back(tensor.bytes.data());
      auto target = testing::make_target({{"mcpu", GetParam().name}});
      testing::run_compiled(*target, candidate.lowered, buffers);
      return got;
    }
    const bool emulated = is_aarch64() && testing::missing_for_emulation().empty();
    return emulated ? testing::run_emulated(*kernel, given, GetParam().vector_bits) : std::vector<Tensor>();
  }

 private:
  PluginRegistry registry_;
  std::unique_ptr<Space> space_ = space_for(registry_, GetParam().name, GetParam().vector_bits);
};

TEST_P(OnProcessor, ProgramsComputeWhatTheWorkloadDoes) {
  constexpr double kTolerance = 1e-2;  // of sums of bf16 and f16
  int ran = 0;
  for (const char* name :
       {"gmm:n=33,m=70,k=48", "conv2d:h=9,w=9,ci=8,co=20", "depthwise_conv2d:h=10,w=10,c=24",
        "softmax:m=12,n=100", "gmm:n=20,m=36,k=32,dtype=bf16", "gmm:n=20,m=36,k=32,dtype=f16",
        "gmm:n=20,m=64,k=32,dtype=u8,b_dtype=i8,acc=i32"}) {
    SCOPED_TRACE(name);
    const Workload workload = WorkloadLibrary().load(name);
    const tunesmith_test::SameResults results(workload.program);
    const std::vector<Tensor> given = test::random_arguments(workload.program);
    const std::vector<CandidatePtr> candidates = draw(workload);
    ASSERT_FALSE(candidates.empty());
    for (const CandidatePtr& candidate : candidates) {
      results.expect_of(*candidate, kTolerance);
      const std::vector<Tensor> got = run(*candidate, given);
      if (got.empty()) continue;
      ++ran;
      std::vector<Tensor> wanted = given;
      interpret(candidate->lowered, wanted);
      for (size_t i = 0; i < got.size(); ++i)
        EXPECT_LT(max_error(wanted[i], got[i]), kTolerance) << candidate->trace.str();
    }
  }
  const ProbeResult probe = space().target().probe();
  const std::string emulator = testing::missing_for_emulation();
  if (probe.here() || (is_aarch64() && emulator.empty())) {
    EXPECT_GE(ran, 20);
  } else if (is_aarch64()) {
    GTEST_SKIP() << "interpreted and compiled, not run: " << emulator << " is not installed";
  } else {
    GTEST_SKIP() << "interpreted and compiled, not run: this machine lacks " << probe.missing;
  }
}

TEST_P(OnProcessor, CodeHasItsInstructions) {
  if (const auto& absent = space().absent_extensions(); !absent.empty()) GTEST_SKIP() << absent.front().str();
  for (const Instructions& expected : GetParam().instructions) {
    SCOPED_TRACE(expected.workload);
    const std::vector<CandidatePtr> candidates = draw(WorkloadLibrary().load(expected.workload));
    ASSERT_FALSE(candidates.empty());
    for (const CandidatePtr& candidate : candidates) {
      const std::string code = space().target().assembly(candidate->lowered, "kernel");
      EXPECT_THAT(code, ContainsRegex(expected.wanted));
      EXPECT_THAT(code, Not(ContainsRegex(expected.unwanted)));
    }
  }
}

INSTANTIATE_TEST_SUITE_P(
    X86, OnProcessor,
    ::testing::Values(
        Processor{"haswell", 0, {{kProduct, "vfmadd[0-9a-z]*ps.*%ymm", "%zmm|%ymm(16|31)"}}},
        Processor{"skylake-avx512", 0, {{kProduct, "vfmadd[0-9a-z]*ps.*%zmm"}, {kBytes, "%zmm", "vpdpbusd"}}},
        Processor{"cascadelake", 0, {{kBytes, "vpdpbusd.*%zmm"}, {kBfloats, "%zmm", "vdpbf16ps"}}},
        Processor{"cooperlake", 0, {{kBytes, "vpdpbusd.*%zmm"}, {kBfloats, "vdpbf16ps.*%zmm"}}},
        Processor{"sapphirerapids",
                  0,
                  {{kBytes, "vpdpbusd.*%zmm"},
                   {kBfloats, "vdpbf16ps.*%zmm"},
                   {kHalves, "vfmadd[0-9a-z]*ph.*%zmm"}}},
        Processor{"znver5", 0, {{kProduct, "vfmadd[0-9a-z]*ps.*%zmm"}, {kBfloats, "vdpbf16ps.*%zmm"}}}),
    [](const auto& one) {
      std::string name = one.param.name;
      std::ranges::replace(name, '-', '_');
      return name;
    });

INSTANTIATE_TEST_SUITE_P(
    Aarch64, OnProcessor,
    ::testing::Values(Processor{"neoverse-n1", 0, {{kProduct, "fmla\tv[0-9]+\\.4s", "[^a-z]z[0-9]+\\.s"}}},
                      Processor{"neoverse-v1", 256, {{kProduct, "fmla\tz[0-9]+\\.s"}}},
                      Processor{"a64fx", 512, {{kProduct, "fmla\tz[0-9]+\\.s"}}}),
    [](const auto& one) { return fmt::format("sve_{}", one.param.vector_bits); });

TEST(Processors, OfAnotherArchitectureAreNotHere) {
#if defined(__x86_64__)
  PluginRegistry registry;
  EXPECT_EQ(space_for(registry, "neoverse-n1", 0)->target().probe().missing, "an AArch64 processor");
#else
  GTEST_SKIP() << "for machines of x86-64";
#endif
}

TEST(Processors, HaveVectorsOfNeonWhereThePersonDoesNotKnowTheLengthOfTheirs) {
  PluginRegistry registry;
  EXPECT_EQ(space_for(registry, "neoverse-v1", 0)->target().lower_options().vector_bits, 128);
  EXPECT_THROW(space_for(registry, "neoverse-n1", 256), UserError);
}

}  // namespace
}  // namespace tunesmith
