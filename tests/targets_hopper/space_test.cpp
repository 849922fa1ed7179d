// Sketches of the space `cuda-hopper`, and a program by hand: tiles of 128x128x64 in four stages, two
// warpgroups of 64x128.
#include <fmt/format.h>

#include "hopper_programs.h"
#include "nvrtc/kernel_compiler.h"
#include "nvrtc/nvrtc.h"
#include "nvrtc/refusal.h"

namespace tunesmith {
namespace {

using namespace hopper;
using ::testing::HasSubstr;

struct Sketched {
  const char* workload;
  std::vector<bool> has_boxes;  // of each sketch
};

class HopperSpace : public ::testing::TestWithParam<Sketched> {};

TEST_P(HopperSpace, KeepsTheMeaningOfTheProgram) {
  const Program program = load_program(GetParam().workload);
  const SketchSet sketches = hopper_space().generate(program);
  ASSERT_EQ(sketches.sketches.size(), GetParam().has_boxes.size());
  for (size_t i = 0; i < sketches.sketches.size(); ++i) {
    const CandidatePtr found = draw(program, sketches.sketches[i], "");
    ASSERT_NE(found, nullptr);
    EXPECT_EQ(found->trace.str().find("hopper_box") != std::string::npos, GetParam().has_boxes[i]);
    SCOPED_TRACE(found->trace.str());
    EXPECT_EQ(product_calls(found->lowered.program), 1U);
    expect_right(program, *found);
  }
}

INSTANTIATE_TEST_SUITE_P(
    Workloads, HopperSpace,
    ::testing::Values(Sketched{"gmm:n=128,m=256,k=128,dtype=f16", {false, true, false, true}},
                      Sketched{"gmm:n=100,m=72,k=50,dtype=bf16", {false, false}},
                      Sketched{"gmm:b=2,n=64,m=130,k=192,dtype=f16", {false, true, false, true}},
                      Sketched{"dense_bias:n=64,m=128,k=64,dtype=f16", {false, false}},
                      Sketched{"dense_bias:n=64,m=128,k=128,dtype=bf16", {false, true, false, true}},
                      Sketched{"conv2d:h=10,w=8,ci=16,co=64,kernel=3,dtype=f16", {false, false}}),
    [](const auto& one) {
      std::string name = one.param.workload;
      std::ranges::replace_if(
          name, [](char c) { return std::isalnum(static_cast<unsigned char>(c)) == 0; }, '_');
      return name;
    });

TEST(HopperSpaceOf, OtherTypesLeavesThemToTheOtherModules) {
  const SketchSet sketches = hopper_space().generate(load_program("gmm:n=128,m=128,k=128"));
  ASSERT_EQ(sketches.sketches.size(), 1U);
  EXPECT_EQ(sketches.sketches.front().trace().str().find("wgmma"), std::string::npos);
}

/// NVIDIA says 989e12 operations a second of its H100, at 1.83 GHz; the model has 1.755.
TEST(HopperSpaceOf, ProductsTakesAsLongAsTheUnit) {
  const DeviceModel& device = hopper_space().target().device();
  for (const int columns : {128, 192, 256}) {
    const auto call = TensorIntrinsics::global().find(fmt::format("hopper_{}_f16", columns));
    ASSERT_NE(call, nullptr);
    const double operations = 2.0 * 64.0 * 64.0 * columns;
    EXPECT_NEAR(operations / call->cycles * device.get("cores") * device.get("clock_ghz") * 1e9, 0.95e15,
                0.01e15);
  }
}

TEST(HopperMainLoop, IsRightOnTheEmulatedDevice) {
  const Program program = load_program("gmm:n=128,m=128,k=448,dtype=f16");  // more steps than stages
  const CandidatePtr candidate = by_hand(program);
  ASSERT_NE(candidate, nullptr);
  expect_right(program, *candidate);
}

TEST(HopperMainLoop, ReadsSharedMemoryInPlaceAndIsNotSerialised) {
  const CandidatePtr candidate = by_hand(load_program("gmm:n=1024,m=1024,k=1024,dtype=f16"));
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
