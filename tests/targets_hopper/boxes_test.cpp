// Programs of the space `cuda-hopper` in which a producer copies boxes: sketches, and one by hand: tiles of
// 128x256x64 in four stages, two warpgroups of 64x256 and one that copies.
#include <filesystem>
#include <limits>

#include <fmt/format.h>

#include "candidates/candidate_object.h"
#include "emulation/emulated_kernel.h"
#include "hopper_programs.h"
#include "machine/architecture.h"
#include "nvrtc/kernel_compiler.h"
#include "nvrtc/nvrtc.h"
#include "nvrtc/refusal.h"
#include "temporary_folder.h"
#include "tunesmith/performance/grid_work.h"
#include "tunesmith/target/packaging.h"
#include "tunesmith/tuning/candidate_compiler.h"

namespace tunesmith {
namespace {

using namespace hopper;
using ::testing::HasSubstr;

constexpr const char* kBoxes = "hgemm_128x256x64_boxes";

TEST(HopperBoxes, AreRightOnTheEmulatedDevice) {
  // More steps than stages; and several blocks, each with rows of another matrix.
  for (const char* text : {"gmm:n=128,m=256,k=320,dtype=f16", "gmm:b=2,n=128,m=256,k=128,dtype=f16"}) {
    const Program program = load_program(text);
    const CandidatePtr candidate = by_hand(program, kBoxes);
    ASSERT_NE(candidate, nullptr);
    expect_right(program, *candidate);
  }
}

TEST(HopperBoxes, AreFetchedByAProducerOfItsOwn) {
  const CandidatePtr candidate = by_hand(load_program("gmm:n=1024,m=1024,k=1024,dtype=f16"), kBoxes);
  ASSERT_NE(candidate, nullptr);
  Target& target = hopper_space().target();
  const std::string text = target.source(candidate->lowered, "k").value();
  for (const char* part :
       {"kernel(float* __restrict__ C, const __grid_constant__ TensorMap A_map, "
        "const __grid_constant__ TensorMap B_map)",
        "mbar_init(arrived + i, 1), mbar_init(released + i, 2);",
        "if (warpgroup_x == 2) {\n    reg_dealloc<40>();\n    if (thread_x == 0) {",
        "return;\n  }\n  reg_alloc<232>();", "mbar_expect(arrived + r_0_0_in_4, 49152);",
        "tma_load_2d((&A_shared[0]) + (r_0_0_in_4 * 8192 + (0)), &A_map, r_0_0 * 64, ", "wgmma_wait<1>();",
        "group_barrier<1, 256>();", "if (r_0_0_1 > 0 && thread_x == 0) mbar_arrive(before);"})
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
  const Program program = load_program("gmm:n=128,m=256,k=128,dtype=f16");
  const CandidatePtr candidate = by_hand(program, kBoxes);
  ASSERT_NE(candidate, nullptr);
  const CompiledKernel kernel = hopper_space().target().compile(candidate->lowered, "k").value();
  const test::TemporaryFolder folder;
  const LibraryFiles files = hopper_space().target().packaging()->build_library(
      {&kernel, &program, "product", folder.path(), "by hand"});
  std::stringstream text;
  text << std::ifstream(files.library).rdbuf();
  for (const char* part : {"extents0[] = {128, 128}, row_bytes0[] = {256};", "box0[] = {64, 128};",
                           "tunesmith_encode(&map0, A, 2, extents0, row_bytes0, box0)",
                           "extents1[] = {256, 128}", "box1[] = {64, 64};"})
    EXPECT_THAT(text.str(), HasSubstr(part));
  EXPECT_THAT(text.str(), HasSubstr("((float*)C, map0, map1);"));
}

struct Drawn {
  const char* workload;
  const char* box;
};

class DrawnBoxes : public ::testing::TestWithParam<Drawn> {};

TEST_P(DrawnBoxes, AreRight) {
  const Program program = load_program(GetParam().workload);
  const SketchSet sketches = hopper_space().generate(program);
  const CandidatePtr found = draw(program, sketches.sketches.at(1), fmt::format("\"{}\"", GetParam().box));
  ASSERT_NE(found, nullptr);
  SCOPED_TRACE(found->trace.str());
  expect_right(program, *found);
}

INSTANTIATE_TEST_SUITE_P(Hopper, DrawnBoxes,
                         ::testing::Values(Drawn{"gmm:n=64,m=128,k=192,dtype=bf16", "hopper_box_64_bf16"},
                                           Drawn{"gmm:b=2,n=128,m=128,k=128,dtype=f16", "hopper_box_128_f16"},
                                           Drawn{"gmm:n=256,m=128,k=128,dtype=f16", "hopper_box_256_f16"},
                                           Drawn{"gmm:n=64,m=128,k=512,dtype=bf16", "hopper_box_256_bf16"}),
                         [](const auto& one) { return std::string(one.param.box); });

/// The module's answer for the workload.
std::string said_of(const std::string& text) {
  const SketchSet sketches = hopper_space().generate(load_program(text));
  const auto event = std::ranges::find_if(sketches.events, [](const ModuleEvent& one) {
    return one.module == "hopper" && one.status == ModuleResult::Status::Applied;
  });
  return event == sketches.events.end() ? "nothing" : event->reason;
}

TEST(HopperBoxes, AreDeclinedWithAReasonWhereTheyAreNotLegal) {
  for (const char* legal :
       {"gmm:n=128,m=256,k=128,dtype=f16", "gmm:n=100,m=131,k=129,dtype=f16", "gram:n=128,k=128,dtype=f16",
        "attention_scores:seq=100,heads=2,dim=96,dtype=f16"})
    EXPECT_EQ(said_of(legal), "") << legal;
  EXPECT_THAT(said_of("gmm:n=128,m=128,k=64,dtype=f16"),
              HasSubstr("128 columns without boxes: the reduction is one step"));
  EXPECT_THAT(said_of("conv2d:h=10,w=8,ci=64,co=64,kernel=3,dtype=f16"),
              HasSubstr("128 columns without boxes: the block computes something else"));
}

/// The work of the only launch.
GridWork work_of(const Candidate& candidate) {
  const Target& target = hopper_space().target();
  return grid_work(candidate.lowered.program, *lockstep_machine(target.execution(), target.device())).at(0);
}

double modelled(const Candidate& candidate) {
  return grid_seconds(candidate.lowered.program, hopper_space().target().execution(),
                      hopper_space().target().device());
}

TEST(HopperBoxes, AreCountedOnceByTheModelOfTimes) {
  const CandidatePtr boxes = by_hand(load_program("gmm:n=1024,m=1024,k=1024,dtype=f16"), kBoxes);
  ASSERT_NE(boxes, nullptr);
  const GridWork work = work_of(*boxes);
  constexpr double kSteps = 32.0 * 16.0, kTile = 128.0 * 64.0 * 2.0, kOther = 64.0 * 256.0 * 2.0;
  EXPECT_EQ(work.bulk_sectors, kSteps * (kTile + kOther) / 32.0);
  EXPECT_EQ(work.bulk_unit_cycles, work.unit_cycles);
  // Each tile is written once. Each of two groups reads its rows and all columns, without bank conflicts.
  EXPECT_EQ(work.bulk_wavefronts, kSteps * (kTile + kOther + kTile + 2.0 * kOther) / 128.0);
  EXPECT_LE(work.barriers, 3.0);
}

TEST(HopperBoxes, AreFoundByTheModelOfTimesWithoutAHand) {
  const Program program = load_program("gmm:n=1024,m=1024,k=1024,dtype=f16");
  const SketchSet sketches = hopper_space().generate(program);
  const CandidatePtr hand = by_hand(program, kBoxes);
  ASSERT_NE(hand, nullptr);
  double best = std::numeric_limits<double>::infinity();
  std::string found;
  for (uint64_t number = 0; number < 40; ++number) {
    const auto& sketch = sketches.sketches[number % sketches.sketches.size()];
    const auto candidate =
        hopper_space().materialise(program, sketch.trace().with_open_decisions(), RandomStream(1, number));
    if (!candidate || modelled(**candidate) >= best) continue;
    best = modelled(**candidate);
    found = (*candidate)->trace.str();
  }
  EXPECT_LT(best, 1.05 * modelled(*hand));
  EXPECT_THAT(found, HasSubstr("hopper_box"));
}

/// Why the trace with `instead` in the place of `text` is refused for the workload.
std::string refusal(const std::string& loaded, const std::string& text, const std::string& instead) {
  const Program program = load_program(loaded);
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
  EXPECT_THAT(refusal(whole, "hopper_box_128_f16", "hopper_box_64_f16"), HasSubstr("extents differ"));
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
  Program program = load_program("gmm:n=128,m=256,k=448,dtype=f16");
  CandidatePtr candidate = by_hand(program, kBoxes);
  CompiledKernel kernel = hopper_space().target().compile(candidate->lowered, "k").value();
  std::string text = cuda::CandidateObject::parse(kernel.object).source;
  std::vector<Tensor> wanted = test::random_arguments(program);
  Changed() { interpret(program, wanted); }

  /// The emulated device's report on the changed text, or that its values are wrong; "" for neither.
  std::string mistake(const std::string& right, const std::string& wrong) const {
    std::string changed = text;
    if (changed.find(right) == std::string::npos) ADD_FAILURE() << right << " is not in\n" << text;
    changed.replace(changed.find(right), right.size(), wrong);
    cuda::EmulationOptions options;
    options.static_shared_bytes = cuda::find_architecture("sm_90a").static_shared_bytes;
    const cuda::EmulatedKernel emulated(changed, "k", "k.cu", options);
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

/// Measures the emulation: it reports if any of the text's waits, arrivals or counts is left out.
TEST_P(ABrokenProducer, IsReported) {
  EXPECT_THAT(changed().mistake(GetParam().right, GetParam().wrong), HasSubstr(GetParam().said));
}

INSTANTIATE_TEST_SUITE_P(
    Hopper, ABrokenProducer,
    ::testing::Values(
        BrokenText{"no_wait_for_a_released_stage", "mbar_wait(released + r_0_0_in_4, phase ^ 1);", "",
                   "all 1 have arrived"},
        BrokenText{"another_release_is_awaited", "mbar_wait(released + r_0_0_in_4,",
                   "mbar_wait(released + (r_0_0_in_4 + 1) % 4,", "deadlock"},
        BrokenText{"no_fence_of_the_barriers", "    fence_mbar_init();\n  }\n  fence_async_shared();\n",
                   "  }\n", "missing_proxy_fence"},
        BrokenText{"no_fence_of_the_products", "wgmma_fence();", "", "missing_product_fence"},
        BrokenText{"no_wait_for_an_arrival", "mbar_wait(arrived + r_0_0_1_in_4, phase_1);", "",
                   "read_before_wait"},
        BrokenText{"no_bytes_expected", "mbar_expect(arrived + r_0_0_in_4, 49152)",
                   "mbar_arrive(arrived + r_0_0_in_4)", "read_before_wait"},
        BrokenText{"fewer_bytes", "49152);", "40960);", "receives 8192 bytes and expects 0"},
        BrokenText{"more_bytes", "49152);", "57344);", "deadlock"},
        BrokenText{"no_release", "mbar_arrive(before);", ";", "deadlock"},
        BrokenText{"release_of_what_is_read", "mbar_arrive(before)", "mbar_arrive(released + r_0_0_1_in_4)",
                   "deadlock"},
        BrokenText{"release_in_the_first_step", "if (r_0_0_1 > 0 && thread_x == 0)", "if (thread_x == 0)",
                   "reads in a wgmma that has not been waited for"},
        BrokenText{"one_release_is_enough", "mbar_init(released + i, 2)", "mbar_init(released + i, 1)",
                   "deadlock"},
        BrokenText{"no_wait_for_products", "wgmma_wait<1>();", "",
                   "reads in a wgmma that has not been waited for"},
        BrokenText{"two_steps_under_way", "wgmma_wait<1>();", "wgmma_wait<2>();",
                   "reads in a wgmma that has not been waited for"},
        BrokenText{"no_wait_at_the_end", "wgmma_wait<0>();", "", "race"},
        BrokenText{"no_other_phase", "phase_1 ^= r_0_0_1_in_4 == 3;", "", "read_before_wait"},
        BrokenText{"producer_without_phase", "phase ^= r_0_0_in_4 == 3;", "", "all 1 have arrived"},
        BrokenText{"barriers_not_seen",
                   "  fence_async_shared();\n  __syncthreads();\n  if (warpgroup_x == 2)",
                   "  if (warpgroup_x == 2)", "race"},
        BrokenText{"consumers_do_not_meet", "group_barrier<1, 256>();", "", "race"},
        BrokenText{"the_producer_is_waited_for", "group_barrier<1, 256>();", "__syncthreads();",
                   "threads of the block have returned"},
        BrokenText{"one_group_alone_meets", "group_barrier<1, 256>();", "group_barrier<1, 128>();", "race"},
        BrokenText{"no_registers_given", "reg_dealloc<40>();", "", "waits in line"},
        BrokenText{"registers_of_one_thread", "reg_dealloc<40>();", "if (thread_x == 0) reg_dealloc<40>();",
                   "deadlock"},
        BrokenText{"registers_that_nobody_gives", "reg_alloc<232>();", "reg_alloc<240>();", "waits in line"},
        BrokenText{"another_box", "r_0_0 * 64, ", "r_0_0 * 64 + 8, ", "wrong values"}),
    [](const auto& one) { return std::string(one.param.name); });

}  // namespace
}  // namespace tunesmith
