// Programs of the space `cuda-hopper`, run by the interpreter and by the emulated device, and one by a trace
// that was written by hand: tiles of 128x128x64 in four stages, two warpgroups of 64x128.
#include "tunesmith/space/space.h"

#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "kernel_compiler.h"
#include "nvrtc.h"
#include "refusal.h"
#include "tunesmith/interp/interpreter.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/workload/library.h"
#include "unit/lower/grid_machine.h"

namespace tunesmith {
namespace {

using ::testing::HasSubstr;

Space& hopper_space() {
  static PluginRegistry registry;
  static Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/spaces.yaml").space("cuda-hopper"), registry);
  return space;
}

Program workload(const std::string& text) { return std::move(WorkloadLibrary().load(text).program); }

size_t product_calls(const Program& program) {
  return collect<Loop>(program.root(),
                       [](const Loop& loop) {
                         const auto name = loop.annotations.find(kTensorIntrinsic);
                         return name != loop.annotations.end() && collect<Loop>(loop).size() == 4;
                       })
      .size();
}

/// What the emulated device says of a call; the outputs stand in `arguments` then.
std::optional<KernelFault> run(const LoweredProgram& lowered, std::vector<Tensor>& arguments) {
  const auto kernel = hopper_space().target().compile(lowered, "k");
  EXPECT_TRUE(kernel) << kernel.error();
  if (!kernel) return KernelFault{};
  std::vector<void*> pointers;
  for (Tensor& tensor : arguments) pointers.push_back(tensor.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(kernel->workspace_bytes) + 64);
  const std::unique_ptr<LoadedKernel> loaded = hopper_space().target().load(*kernel);
  loaded->entry()(pointers.data(), workspace.data(), nullptr, nullptr);
  return loaded->take_fault();
}

void expect_right(const Program& program, const Candidate& candidate) {
  std::vector<Tensor> wanted = test::random_arguments(program);
  interpret(program, wanted);
  std::vector<Tensor> interpreted = test::random_arguments(program);
  ASSERT_NO_THROW(interpret(candidate.lowered, interpreted)) << to_string(candidate.lowered.program);
  EXPECT_LT(max_error(wanted.back(), interpreted.back()), 1e-2);
  std::vector<Tensor> emulated = test::random_arguments(program);
  const auto fault = run(candidate.lowered, emulated);
  const std::string text = hopper_space().target().source(candidate.lowered, "k").value();
  ASSERT_FALSE(fault) << fault->message << text;
  EXPECT_LT(max_error(wanted.back(), emulated.back()), 1e-2) << text;
}

class HopperSpace : public ::testing::TestWithParam<const char*> {};

TEST_P(HopperSpace, KeepsTheMeaningOfTheProgram) {
  const Program program = workload(GetParam());
  const SketchSet sketches = hopper_space().generate(program);
  ASSERT_EQ(sketches.sketches.size(), 2U);
  for (const auto& sketch : sketches.sketches) {
    CandidatePtr found;
    for (uint64_t draw = 0; draw < 200 && found == nullptr; ++draw) {
      const auto candidate =
          hopper_space().materialise(program, sketch.trace().with_open_decisions(), RandomStream(7, draw));
      if (candidate) found = *candidate;
    }
    ASSERT_NE(found, nullptr);
    SCOPED_TRACE(found->trace.str());
    EXPECT_EQ(product_calls(found->lowered.program), 1U);
    expect_right(program, *found);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, HopperSpace,
    ::testing::Values("gmm:n=128,m=256,k=128,dtype=f16", "gmm:n=100,m=72,k=50,dtype=bf16",
                      "gmm:b=2,n=64,m=130,k=192,dtype=f16", "dense_bias:n=64,m=128,k=64,dtype=f16",
                      "conv2d:h=10,w=8,ci=16,co=64,kernel=3,dtype=f16"),
    [](const auto& one) {
      std::string name = one.param;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

TEST(HopperSpaceOf, OtherTypesLeavesThemToTheOtherModules) {
  const SketchSet sketches = hopper_space().generate(workload("gmm:n=128,m=128,k=128"));
  ASSERT_EQ(sketches.sketches.size(), 1U);
  EXPECT_EQ(sketches.sketches.front().trace().str().find("wgmma"), std::string::npos);
}

CandidatePtr by_hand(const Program& program) {
  std::stringstream text;
  text << std::ifstream(TUNESMITH_SOURCE_DIR "/tests/targets_hopper/traces/hgemm_128x128x64.trace").rdbuf();
  auto candidate = hopper_space().materialise(program, Trace::parse(text.str()), RandomStream(1, 1));
  EXPECT_TRUE(candidate) << candidate.error().message;
  return candidate ? *candidate : nullptr;
}

TEST(HopperMainLoop, IsRightOnTheEmulatedDevice) {
  const Program program = workload("gmm:n=128,m=128,k=448,dtype=f16");  // more steps than stages
  const CandidatePtr candidate = by_hand(program);
  ASSERT_NE(candidate, nullptr);
  expect_right(program, *candidate);
}

TEST(HopperMainLoop, ReadsSharedMemoryInPlaceAndIsNotSerialised) {
  const CandidatePtr candidate = by_hand(workload("gmm:n=1024,m=1024,k=1024,dtype=f16"));
  ASSERT_NE(candidate, nullptr);
  Target& target = hopper_space().target();
  const std::string text = target.source(candidate->lowered, "k").value();
  for (const char* part :
       {"__align__(1024) char shared_memory[131072];", "__shfl_sync(0xffffffffu, threadIdx.y, 0)",
        "cp_async_wait<2>();\n    fence_async_shared();\n    __syncthreads();", "wgmma_wait<0>();"})
    EXPECT_THAT(text, HasSubstr(part));
  EXPECT_EQ(text.find("ldmatrix"), std::string::npos);
  if (const cuda::Nvrtc* const nvrtc = cuda::Nvrtc::find()) {
    const cuda::Compilation compilation = cuda::KernelCompiler(*nvrtc).compile(text, "k.cu", "sm_90a");
    cuda::Launch launch;
    launch.block = {128, 2, 1};
    const auto refusal = cuda::refuse(compilation, "k", cuda::find_architecture("sm_90a"), launch);
    EXPECT_FALSE(refusal) << refusal->text << compilation.log;
    EXPECT_EQ(compilation.log.find("wgmma"), std::string::npos) << compilation.log;
  }
}

}  // namespace
}  // namespace tunesmith
