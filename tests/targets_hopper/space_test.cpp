// Programs of the space `cuda-hopper`, run by the interpreter and by the emulated device, and one by a trace
// that was written by hand: tiles of 128x128x64 in four stages, two warpgroups of 64x128.
#include "tunesmith/space/space.h"

#include <filesystem>
#include <fstream>
#include <sstream>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "candidate_object.h"
#include "emulated_kernel.h"
#include "kernel_compiler.h"
#include "nvrtc.h"
#include "refusal.h"
#include "tunesmith/interp/interpreter.h"
#include "tunesmith/ir/annotation_keys.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/tune/candidate_compiler.h"
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
std::optional<KernelFault> run(const CompiledKernel& kernel, std::vector<Tensor>& arguments) {
  std::vector<void*> pointers;
  for (Tensor& tensor : arguments) pointers.push_back(tensor.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(kernel.workspace_bytes) + 64);
  const std::unique_ptr<LoadedKernel> loaded = hopper_space().target().load(kernel);
  loaded->entry()(pointers.data(), workspace.data(), nullptr, nullptr);
  return loaded->take_fault();
}

std::optional<KernelFault> run(const LoweredProgram& lowered, std::vector<Tensor>& arguments) {
  const auto kernel = hopper_space().target().compile(lowered, "k");
  EXPECT_TRUE(kernel) << kernel.error();
  return kernel ? run(*kernel, arguments) : KernelFault{};
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

std::string trace_text(const std::string& name) {
  std::stringstream text;
  text << std::ifstream(TUNESMITH_SOURCE_DIR "/tests/targets_hopper/traces/" + name + ".trace").rdbuf();
  return text.str();
}

CandidatePtr by_hand(const Program& program, const std::string& name = "hgemm_128x128x64") {
  auto candidate = hopper_space().materialise(program, Trace::parse(trace_text(name)), RandomStream(1, 1));
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

constexpr const char* kBoxes = "hgemm_128x256x64_boxes";

TEST(HopperBoxes, AreRightOnTheEmulatedDevice) {
  // More steps than stages; and several blocks, each with rows of another matrix.
  for (const char* text : {"gmm:n=128,m=256,k=320,dtype=f16", "gmm:b=2,n=128,m=256,k=128,dtype=f16"}) {
    const Program program = workload(text);
    const CandidatePtr candidate = by_hand(program, kBoxes);
    ASSERT_NE(candidate, nullptr);
    expect_right(program, *candidate);
  }
}

TEST(HopperBoxes, AreFetchedByAProducerOfItsOwn) {
  const CandidatePtr candidate = by_hand(workload("gmm:n=1024,m=1024,k=1024,dtype=f16"), kBoxes);
  ASSERT_NE(candidate, nullptr);
  Target& target = hopper_space().target();
  const std::string text = target.source(candidate->lowered, "k").value();
  for (const char* part :
       {"kernel(float* __restrict__ C, const __grid_constant__ TensorMap A_map, "
        "const __grid_constant__ TensorMap B_map)",
        "mbar_init(arrived + i, 1), mbar_init(released + i, 2);", "if (warpgroup_x == 2 && thread_x == 0) {",
        "mbar_expect(arrived + r_0_0_in_4, 49152);", "} else if (warpgroup_x < 2) {", "wgmma_wait<1>();",
        "if (r_0_0_1 > 0 && thread_x == 0) mbar_arrive(released + before);"})
    EXPECT_THAT(target.source(candidate->lowered, "kernel").value(), HasSubstr(part));
  if (const cuda::Nvrtc* const nvrtc = cuda::Nvrtc::find()) {
    const cuda::Compilation compilation = cuda::KernelCompiler(*nvrtc).compile(text, "k.cu", "sm_90a");
    cuda::Launch launch;
    launch.block = {128, 3, 1};
    const auto refusal = cuda::refuse(compilation, "k", cuda::find_architecture("sm_90a"), launch);
    EXPECT_FALSE(refusal) << refusal->text << compilation.log;
    EXPECT_EQ(compilation.log.find("wgmma"), std::string::npos) << compilation.log;
  }
}

TEST(HopperBoxes, AreEncodedByTheLibrarysFunction) {
  const Program program = workload("gmm:n=128,m=256,k=128,dtype=f16");
  const CandidatePtr candidate = by_hand(program, kBoxes);
  ASSERT_NE(candidate, nullptr);
  const CompiledKernel kernel = hopper_space().target().compile(candidate->lowered, "k").value();
  std::string folder = (std::filesystem::temp_directory_path() / "tunesmith-boxes-XXXXXX").string();
  ASSERT_NE(mkdtemp(folder.data()), nullptr);
  const LibraryFiles files =
      hopper_space().target().build_library({&kernel, &program, "product", folder, "by hand"});
  std::stringstream text;
  text << std::ifstream(files.library).rdbuf();
  EXPECT_THAT(text.str(), HasSubstr("tunesmith_encode(&map0, A, 128, 128, 64, 128))"));
  EXPECT_THAT(text.str(), HasSubstr("tunesmith_encode(&map1, B, 256, 128, 64, 64))"));
  EXPECT_THAT(text.str(), HasSubstr("((float*)C, map0, map1);"));
  std::filesystem::remove_all(folder);
}

/// Why the trace with `instead` in the place of `text` is refused for the workload.
std::string refusal(const std::string& loaded, const std::string& text, const std::string& instead) {
  const Program program = workload(loaded);
  std::string trace = trace_text(kBoxes);
  const size_t at = trace.find(text);
  if (at == std::string::npos) return "the trace has no " + text;
  trace.replace(at, text.size(), instead);
  const auto candidate = hopper_space().materialise(program, Trace::parse(trace), RandomStream(1, 1));
  if (!candidate) return candidate.error().message;
  try {
    const auto kernel = hopper_space().target().compile((*candidate)->lowered, "k");
    return kernel ? "" : kernel.error();
  } catch (const LowerError& error) {
    return error.what();
  }
}

TEST(HopperBoxes, WhatIsNotShownToBeRightIsRefused) {
  const std::string whole = "gmm:n=128,m=256,k=128,dtype=f16";
  EXPECT_EQ(refusal(whole, "software_pipeline(l75, 4)", "software_pipeline(l75, 2)"), "");
  EXPECT_THAT(refusal(whole, "software_pipeline(l75, 4)\n", ""), HasSubstr("outside of a pipeline"));
  EXPECT_THAT(refusal(whole, "b84 = tensorize(l82, \"hopper_box_128_f16\")\nstorage_swizzle(b84, 0)",
                      "storage_swizzle(b3, 0)"),
              HasSubstr("other means than bulk copies"));
  EXPECT_THAT(refusal(whole, "hopper_box_128_f16", "hopper_box_64_f16"), HasSubstr("other extents"));
  EXPECT_THAT(refusal("gmm:n=100,m=256,k=128,dtype=f16", "", ""), HasSubstr("condition"));
}

TEST(HopperBoxes, WhatTheEmitterRefusesIsTheCandidatesFailureAlsoWhereItsTwinIsSought) {
  std::string trace = trace_text(kBoxes);
  const std::string pipeline = "software_pipeline(l75, 4)\n";
  trace.erase(trace.find(pipeline), pipeline.size());
  const Workload large = WorkloadLibrary().load("gmm:n=1024,m=1024,k=1024,dtype=f16");
  const auto candidate = hopper_space().materialise(large.program, Trace::parse(trace), RandomStream(1, 1));
  ASSERT_TRUE(candidate) << candidate.error().message;
  const auto kernel = CandidateCompiler(large, hopper_space()).compile(**candidate, "k");
  ASSERT_FALSE(kernel);
  EXPECT_THAT(kernel.error(), HasSubstr("outside of a pipeline"));
  EXPECT_THROW(hopper_space().target().source((*candidate)->lowered, "k"), LowerError);
  EXPECT_THROW(hopper_space().target().assembly((*candidate)->lowered, "k"), LowerError);
}

struct BrokenText {
  const char* name;
  const char* right;
  const char* wrong;
  const char* said;
};

class ABrokenProducer : public ::testing::TestWithParam<BrokenText> {};

/// A program by hand with a producer, whose text is changed.
struct Changed {
  Program program = workload("gmm:n=128,m=256,k=448,dtype=f16");
  CandidatePtr candidate = by_hand(program, kBoxes);
  CompiledKernel kernel = hopper_space().target().compile(candidate->lowered, "k").value();
  std::string text = cuda::CandidateObject::parse(kernel.object).source;
  std::vector<Tensor> wanted = test::random_arguments(program);
  Changed() { interpret(program, wanted); }

  /// What the emulated device says of the changed text, or that its values are wrong; "" for neither.
  std::string mistake(const std::string& right, const std::string& wrong) const {
    std::string changed = text;
    if (changed.find(right) == std::string::npos) ADD_FAILURE() << right << " is not in\n" << text;
    changed.replace(changed.find(right), right.size(), wrong);
    const cuda::EmulatedKernel emulated(changed, "k", "k.cu", {});
    if (!emulated.compiled()) ADD_FAILURE() << emulated.log();
    cuda::CandidateObject object = cuda::CandidateObject::parse(kernel.object);
    object.launches.front().program = emulated.program();
    CompiledKernel other = kernel;
    other.object = object.bytes();
    std::vector<Tensor> arguments = test::random_arguments(program);
    const auto fault = run(other, arguments);
    if (fault) return fault->message;
    return max_error(wanted.back(), arguments.back()) > 1e-2 ? "wrong values" : "";
  }
};

const Changed& changed() {
  static const Changed once;
  return once;
}

TEST(HopperBoxes, AreNoMistakeAsTheyAre) { EXPECT_EQ(changed().mistake("mbar_wait", "mbar_wait"), ""); }

/// What the emulation is worth: of the text's waits, arrivals and counts none may be left out.
TEST_P(ABrokenProducer, IsReported) {
  EXPECT_THAT(changed().mistake(GetParam().right, GetParam().wrong), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Hopper, ABrokenProducer,
    ::testing::Values(BrokenText{"no_wait_for_a_released_stage",
                                 "mbar_wait(released + r_0_0_in_4, phase ^ 1);", "", "all 1 have arrived"},
                      BrokenText{"another_release_is_awaited", "mbar_wait(released + r_0_0_in_4,",
                                 "mbar_wait(released + (r_0_0_in_4 + 1) % 4,", "deadlock"},
                      BrokenText{"no_fence_of_the_barriers",
                                 "    fence_mbar_init();\n  }\n  fence_async_shared();\n", "  }\n",
                                 "missing_proxy_fence"},
                      BrokenText{"no_wait_for_an_arrival", "mbar_wait(arrived + r_0_0_1_in_4, phase);", "",
                                 "uninitialised"},
                      BrokenText{"no_bytes_expected", "mbar_expect(arrived + r_0_0_in_4, 49152)",
                                 "mbar_arrive(arrived + r_0_0_in_4)", "read_before_wait"},
                      BrokenText{"fewer_bytes", "49152);", "40960);", "receives 8192 bytes and expects 0"},
                      BrokenText{"more_bytes", "49152);", "57344);", "deadlock"},
                      BrokenText{"no_release", "mbar_arrive(released + before);", ";", "deadlock"},
                      BrokenText{"release_of_what_is_read", "mbar_arrive(released + before)",
                                 "mbar_arrive(released + r_0_0_1_in_4)", "deadlock"},
                      BrokenText{"release_in_the_first_step", "if (r_0_0_1 > 0 && thread_x == 0)",
                                 "if (thread_x == 0)", "reads in a wgmma that has not been waited for"},
                      BrokenText{"one_release_is_enough", "mbar_init(released + i, 2)",
                                 "mbar_init(released + i, 1)", "deadlock"},
                      BrokenText{"no_wait_for_products", "wgmma_wait<1>();", "",
                                 "reads in a wgmma that has not been waited for"},
                      BrokenText{"two_steps_under_way", "wgmma_wait<1>();", "wgmma_wait<2>();",
                                 "reads in a wgmma that has not been waited for"},
                      BrokenText{"no_wait_at_the_end", "wgmma_wait<0>();", "", "race"},
                      BrokenText{"no_other_phase", "phase ^= r_0_0_1_in_4 == 3;", "", "read_before_wait"},
                      BrokenText{"producer_without_phase", "phase ^= r_0_0_in_4 == 3;", "",
                                 "all 1 have arrived"},
                      BrokenText{"barriers_not_seen",
                                 "  fence_async_shared();\n  __syncthreads();\n  if (warpgroup_x == 2 &&",
                                 "  if (warpgroup_x == 2 &&", "not initialised"},
                      BrokenText{"another_box", "r_0_0 * 64, ", "r_0_0 * 64 + 8, ", "wrong values"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tunesmith
