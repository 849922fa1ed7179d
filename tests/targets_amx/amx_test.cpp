// The pack for AMX: programs of its module are correct when interpreted, and the code for a processor with
// AMX keeps sums in tile registers. The conformance kit tests the instructions on such a processor.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "assembly_text.h"
#include "compile_only_target.h"
#include "intrinsic_checks.h"
#include "random_arguments.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/space/space.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

using testing::count_of;
using ::testing::HasSubstr;
using testing::loop_around;

struct Product {
  const char* workload;
  const char* instruction;
};

class AmxPack : public ::testing::TestWithParam<Product> {
 protected:
  AmxPack() {
    search_.command_line = {{AMX_PLUGINS}};
    registry_.emplace(search_);
    space_.emplace(
        SpacesFile::load(TUNESMITH_SOURCE_DIR "/sdk/examples/amx_pack/spaces.yaml").space("cpu-amx"),
        *registry_, std::make_shared<testing::CompileOnlyTarget>("sapphirerapids"));
  }

  std::vector<CandidatePtr> candidates() const {
    const SketchSet set = space_->generate(workload_.program);
    std::vector<CandidatePtr> candidates;
    for (uint64_t i = 0; i < 16; ++i) {
      auto candidate = space_->materialise(
          workload_.program, set.sketches.at(0).trace().with_open_decisions(), RandomStream(1, i));
      if (candidate) candidates.push_back(*candidate);
    }
    return candidates;
  }

  const Workload workload_ = WorkloadLibrary().load(GetParam().workload);
  PluginSearch search_;
  std::optional<PluginRegistry> registry_;
  std::optional<Space> space_;
};

INSTANTIATE_TEST_SUITE_P(All, AmxPack,
                         ::testing::Values(Product{"gmm:n=64,m=32,k=96,dtype=bf16", "tdpbf16ps"},
                                           Product{"gmm:n=64,m=32,k=192,dtype=u8,b_dtype=i8", "tdpbusd"}),
                         [](const auto& tested) { return std::string(tested.param.instruction); });

TEST_P(AmxPack, ItsModuleTakesProducts) {
  std::vector<Tensor> given = test::random_arguments(workload_.program);
  std::vector<Tensor> expected = given;
  interpret(workload_.program, expected);
  const std::vector<CandidatePtr> all = candidates();
  ASSERT_EQ(all.size(), 16U);
  for (const CandidatePtr& candidate : all) {
    const auto is_call = [](const Loop& loop) { return loop.annotations.contains(kTensorIntrinsic); };
    EXPECT_EQ(collect<Loop>(candidate->lowered.program.root(), is_call).size(), 3U);
    std::vector<Tensor> got = given;
    interpret(candidate->lowered.program, got);
    EXPECT_LE(max_error(got.back(), expected.back()), 1e-5);
  }
}

TEST_P(AmxPack, SumsStayInTileRegisters) {
  size_t most = 0;
  for (const CandidatePtr& candidate : candidates()) {
    const std::string code = space_->target().assembly(candidate->lowered, "kernel");
    const std::string instruction = std::string("\t") + GetParam().instruction;
    const size_t sums = count_of(code, instruction);
    ASSERT_GT(sums, 0U);
    most = std::max(most, sums);
    EXPECT_EQ(count_of(code, "\ttilezero"), sums);
    EXPECT_EQ(count_of(code, "\ttilestored"), sums) << "one for each sum, and none for a spill";
    const std::string loop = loop_around(code, instruction);
    EXPECT_EQ(count_of(loop, instruction), sums);
    EXPECT_EQ(count_of(loop, "tilestored"), 0U) << loop;
    // A row of tiles of A, and a column of tiles of B, each once.
    EXPECT_EQ(count_of(loop, "tileloadd"), sums == 1 ? 2U : sums == 2 ? 3U : 4U) << loop;
    EXPECT_EQ(count_of(loop, "rsp"), 0U) << loop;
  }
  EXPECT_EQ(most, 4U);
}

TEST_P(AmxPack, TheProcessAsksForTheTileRegisters) {
  const auto kernel = space_->target().compile(candidates().at(0)->lowered, "kernel");
  ASSERT_TRUE(kernel) << kernel.error();
  ASSERT_TRUE(kernel->setup);
  EXPECT_THAT(kernel->setup->parts,
              ::testing::ElementsAre(HasSubstr("amx.yaml:8: extension amx: the set-up")));
}

TEST_P(AmxPack, ThePeakIsThatOfTheUnit) {
  const PeakKernel peak = peak_kernel(*space_, workload_.program, 1);
  EXPECT_THAT(peak.unit, ::testing::StartsWith("amx_dot_"));
  EXPECT_GT(peak.operations, 0.0);
}

/// An epilogue in plain, unrolled loops reads the unit's results from memory; docs/targets.md says why.
constexpr const char* kEpilogue = R"trace(c = get_block("C")
tiles = cache_read(c, 1, "global")
transform_layout(c, "read", 1, "(z, k, j) -> (z, j // 16, k // 2, j % 16, k % 2)")
plain = cache_write(c, 0, "global")
out = cache_write(c, 0, "local")
z, i, j, k = get_loops(c)
i0, i1 = split(i, [None, 16])
j0, j1 = split(j, [None, 16])
k0, k1, k2 = split(k, [None, 16, 2])
reorder([z, i0, j0, k0, i1, j1, k1, k2])
reverse_compute_at(out, j0)
reverse_compute_at(plain, j0)
zero = decompose_reduction(c, k0)
z1, zi0, zj0, zi, zj = get_loops(zero)
oz, oi0, oj0, oi, oj = get_loops(out)
d = tensorize(i1, "amx_dot_bf16")
s = tensorize(zi, "amx_zero_bf16")
u = tensorize(oi, "amx_store_bf16")
pz, pi0, pj0, pi, pj = get_loops(plain)
vectorize(pj)
unroll(pi)
)trace";

TEST(Amx, AnUnrolledEpilogueLeavesSumsInTheirRegisters) {
  const auto extension = ExtensionFile::load(TUNESMITH_SOURCE_DIR "/sdk/examples/amx_pack/amx.yaml");
  const auto target = testing::make_target({{"mcpu", "sapphirerapids"}});
  LowerOptions options = lower_options_of(*target);
  extension->adapt(options);
  const Workload workload = WorkloadLibrary().load("gmm:n=32,m=32,k=128,dtype=bf16");
  // Reads the stored results, and the unit's value itself.
  std::string direct = kEpilogue;
  for (const char* line :
       {"plain = cache_write(c, 0, \"global\")\n", "reverse_compute_at(plain, j0)\n",
        "u = tensorize(oi, \"amx_store_bf16\")\n", "pz, pi0, pj0, pi, pj = get_loops(plain)\n"})
    direct.erase(direct.find(line), std::string(line).size());
  direct.replace(direct.find("vectorize(pj)\nunroll(pi)"), 24, "vectorize(oj)\nunroll(oi)");
  for (const std::string& trace : {std::string(kEpilogue), direct}) {
    SCOPED_TRACE(trace);
    const auto schedule = replay(workload.program, Trace::parse(trace));
    ASSERT_TRUE(schedule) << schedule.error().what();
    const std::string code = target->assembly(lower(schedule->program().clone(), options), "kernel");
    EXPECT_EQ(count_of(code, "\ttilestored"), 1U);
    EXPECT_EQ(count_of(loop_around(code, "\ttdpbf16ps"), "tilestored"), 0U);
  }
}

TEST(Amx, IsCheckedAsFarAsThisMachineCan) {
  const auto extension = ExtensionFile::load(TUNESMITH_SOURCE_DIR "/sdk/examples/amx_pack/amx.yaml");
  const std::shared_ptr<Target> target = testing::make_target();
  const conformance::Verdict verdict = conformance::check_intrinsics(target, *extension);
  const ProbeResult probe = extension->probe(*target);
  if (probe.here()) {
    EXPECT_EQ(verdict.outcome, conformance::Outcome::Passed) << verdict.reason;
  } else {
    EXPECT_EQ(verdict.outcome, conformance::Outcome::Unsupported) << verdict.reason;
    EXPECT_THAT(verdict.reason, HasSubstr("this machine lacks " + probe.missing));
  }
}

}  // namespace
}  // namespace tunesmith
