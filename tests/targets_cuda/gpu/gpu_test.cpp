// The device `gpu` from end to end, with a driver and an NVRTC that are fakes: libraries that run launches
// through the emulation, in this process and in the worker.
#include <cstdlib>
#include <filesystem>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "candidates/candidate_object.h"
#include "cuda_target.h"
#include "generator.h"
#include "nvrtc/kernel_compiler.h"
#include "targets_cuda/fake_gpu/cubin.h"
#include "temporary_folder.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/measuring/worker_runner.h"
#include "tunesmith/records/record_store.h"
#include "tunesmith/trace/in_threads.h"
#include "tunesmith/tuning/tuner.h"
#include "tunesmith/verification/data_sets.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/verification/reference.h"
#include "tunesmith/workload/library.h"
#include "unit/grid/grid_machine.h"

namespace tunesmith::cuda {
namespace {

namespace fs = std::filesystem;
using test::random_arguments;
using ::testing::HasSubstr;

// Set before anything looks for them; the worker inherits them.
const bool kFakesAreNamed = [] {
  setenv("TUNESMITH_CUDA_DRIVER", TUNESMITH_FAKE_DRIVER, 1);
  setenv("TUNESMITH_NVRTC", TUNESMITH_FAKE_NVRTC, 1);
  return true;
}();

std::vector<RawOption> options(const std::string& arch, const std::string& device) {
  std::vector<RawOption> raw;
  for (const auto& [name, text] : {std::pair{"arch", arch}, {"device", device}}) {
    RawOption option;
    option.name = name;
    option.location = {"t.yaml", 1, 1};
    option.values.push_back({text, {"t.yaml", 1, 9}});
    raw.push_back(option);
  }
  return raw;
}

CudaTarget target_of(const std::string& arch, const std::string& device) {
  return CudaTarget(Options::validate(CudaTarget::specs(), options(arch, device), "target 'cuda'"));
}

CudaTarget& target() {
  static CudaTarget one = target_of("detect", "gpu");
  return one;
}

TEST(OnAGpu, TheTargetSaysWhatItRunsOn) {
  EXPECT_TRUE(kFakesAreNamed);
  EXPECT_TRUE(target().probe().here()) << target().probe().missing;
  EXPECT_EQ(target().identity(), "cuda arch=sm_80 device=gpu Fake GPU");
  EXPECT_FALSE(target().models_times());
  EXPECT_EQ(target().device().get("cores"), 2);
  EXPECT_THAT(target().remark(), HasSubstr("Fake GPU"));
  const CudaTarget emulated = target_of("sm_90a", "emulated");
  EXPECT_THAT(emulated.remark(), HasSubstr("device: gpu measures on it"));
  EXPECT_TRUE(emulated.models_times());
  try {
    target_of("sm_90", "gpu");
    FAIL() << "the device does not run it";
  } catch (const UserError& error) {
    EXPECT_THAT(error.what(), HasSubstr("does not run code for sm_90"));
  }
}

TEST(OnAGpu, TheFingerprintOfTheGeneratorHasTheCompilersVersion) {
  const auto fingerprint_with = [](const char* version) {
    setenv("TUNESMITH_FAKE_NVRTC_VERSION", version, 1);
    std::string why_not;
    const std::unique_ptr<Nvrtc> nvrtc = Nvrtc::load(TUNESMITH_FAKE_NVRTC, &why_not);
    unsetenv("TUNESMITH_FAKE_NVRTC_VERSION");
    EXPECT_NE(nvrtc, nullptr) << why_not;
    return generator_fingerprint(nvrtc.get());
  };
  EXPECT_EQ(fingerprint_with("13.0"), fingerprint_with("13.0"));
  EXPECT_NE(fingerprint_with("13.0"), fingerprint_with("13.1"));
  EXPECT_NE(fingerprint_with("12.9"), fingerprint_with("13.0"));
  EXPECT_EQ(target().fingerprint(), fingerprint_with("13.0"));
  EXPECT_THAT(task_target(target()), HasSubstr("nvrtc-13.0"));
  // Without NVRTC other programs are tried, although none runs on a GPU.
  EXPECT_THAT(generator_fingerprint(nullptr), HasSubstr("nvrtc-none"));
  std::string why_not;
  EXPECT_EQ(Nvrtc::load("/no/libnvrtc.so", &why_not), nullptr);
  EXPECT_THAT(why_not, HasSubstr("/no/libnvrtc.so"));
}

// From 12.9 on, NVRTC caches programs if there is a driver, and then reports no resources.
TEST(OnAGpu, ATextThatWasCompiledBeforeHasItsResources) {
  const std::string text = "extern \"C\" __global__ void k(float* __restrict__ A) {\n  A[0] = 1.0f;\n}\n";
  for (const char* version : {"12.8", "12.9", "13.0"}) {
    setenv("TUNESMITH_FAKE_NVRTC_VERSION", version, 1);
    std::string why_not;
    const std::unique_ptr<Nvrtc> nvrtc = Nvrtc::load(TUNESMITH_FAKE_NVRTC, &why_not);
    ASSERT_NE(nvrtc, nullptr) << why_not;
    for (int i = 0; i < 2; ++i) {
      const Compilation compilation = KernelCompiler(*nvrtc).compile(text, "k.cu", "sm_80");
      EXPECT_NE(compilation.kernel("k"), nullptr) << version << ": " << compilation.log;
    }
    unsetenv("TUNESMITH_FAKE_NVRTC_VERSION");
  }
}

TEST(OnAGpu, ProgramsRunAndAreTimedByItsClock) {
  const Workload workload = WorkloadLibrary().load("gmm:n=12,m=16,k=20");
  const LoweredProgram lowered = lower_for(target(), workload.program);
  const auto kernel = target().compile(lowered, "k");
  ASSERT_TRUE(kernel) << kernel.error();
  const std::unique_ptr<LoadedKernel> loaded = target().load(*kernel);
  std::vector<Tensor> arguments = random_arguments(lowered.program);
  std::vector<void*> pointers;
  for (Tensor& tensor : arguments) pointers.push_back(tensor.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(kernel->workspace_bytes) + 64);
  loaded->entry()(pointers.data(), workspace.data(), nullptr, nullptr);
  EXPECT_FALSE(loaded->take_fault());
  std::vector<Tensor> expected = arguments;
  interpret(workload.program, expected);
  EXPECT_LT(max_error(arguments.back(), expected.back()), 1e-4);

  std::ranges::fill(arguments.back().bytes, std::byte{0xff});
  const auto seconds = loaded->device_seconds(3, pointers.data(), workspace.data());
  ASSERT_TRUE(seconds);
  EXPECT_GT(*seconds, 1e-3);  // the fake's time for a launch
  EXPECT_LT(*seconds, 5e-3);
  EXPECT_LT(max_error(arguments.back(), expected.back()), 1e-4);
  EXPECT_FALSE(loaded->modelled_seconds());
}

TEST(OnAGpu, TheReferenceIsTheHosts) {
  const Workload workload = WorkloadLibrary().load("gmm:n=4,m=4,k=4");
  const LoweredProgram lowered = lower_for(target(), workload.program);
  const auto kernel = target().compile_reference(lowered, "reference");
  ASSERT_TRUE(kernel) << kernel.error();
  EXPECT_EQ(CandidateObject::parse(kernel->object).runs_on, RunsOn::Host);
  EXPECT_FALSE(target().load(*kernel)->device_seconds(1, nullptr, nullptr));
}

/// Runs a program on the GPU, which changes its arguments.
void run_on_gpu(const LoweredProgram& lowered, std::vector<Tensor>& arguments) {
  const auto kernel = target().compile(lowered, "k");
  ASSERT_TRUE(kernel) << kernel.error();
  const std::unique_ptr<LoadedKernel> loaded = target().load(*kernel);
  std::vector<void*> pointers;
  for (Tensor& tensor : arguments) pointers.push_back(tensor.bytes.data());
  std::vector<std::byte> workspace(static_cast<size_t>(kernel->workspace_bytes) + 64);
  loaded->entry()(pointers.data(), workspace.data(), nullptr, nullptr);
  const auto fault = loaded->take_fault();
  EXPECT_FALSE(fault) << fault->message;
}

// A large reference runs on the GPU's threads, with the same values and bounds as on the host.
TEST(OnAGpu, AReferenceByThreadsIsTheHosts) {
  for (const char* name : {"gmm:b=2,n=20,m=7,k=10,dtype=f16", "softmax:m=12,n=40"}) {
    const Workload workload = WorkloadLibrary().load(name);
    for (const DataKind data : kDataKinds) {
      const Program reference = reference_program(workload.program, data);
      const auto schedule = in_threads(reference, target().execution());
      ASSERT_TRUE(schedule);
      std::vector<Tensor> expected = random_arguments(reference);
      std::vector<Tensor> arguments = expected;
      interpret(reference, expected);
      run_on_gpu(lower_for(target(), schedule->program()), arguments);
      for (size_t i = reference.inputs.size(); i < arguments.size(); ++i)
        EXPECT_LT(max_error(arguments[i], expected[i]), 1e-9) << name << ", output " << i;
    }
  }
}

TEST(OnAGpu, PeaksAreMeasured) {
  EXPECT_GT(measure_peak(target(), kF32, 1), 1e6);
  EXPECT_GT(target().measure_copy_bandwidth(1), 1e9);
}

/// The fault of a kernel that writes `writes` of `count` elements.
std::optional<KernelFault> fault_of_writing(int writes, int count) {
  const std::string text =
      "extern \"C\" __global__ void __launch_bounds__(1) k(float* __restrict__ A) {\n  for (int i = 0; i < " +
      std::to_string(writes) + "; i++) A[i] = 1.0f;\n}\n";
  const Compilation compilation = KernelCompiler(*Nvrtc::find()).compile(text, "k.cu", "sm_80");
  EXPECT_TRUE(compilation.succeeded) << compilation.log;
  CandidateObject object;
  object.runs_on = RunsOn::Gpu;
  object.outputs = {0};
  object.launches.push_back({"k", {}, {{"A", false, 0, int64_t{4} * count, "float"}}, compilation.cubin});
  const std::unique_ptr<LoadedKernel> loaded = target().load({object.bytes(), "k", 0, 0.0});
  std::vector<float> values(static_cast<size_t>(count));
  void* pointer = values.data();
  loaded->entry()(&pointer, nullptr, nullptr, nullptr);
  return loaded->take_fault();
}

TEST(OnAGpu, WritingBehindAnArgumentIsSeen) {
  EXPECT_FALSE(fault_of_writing(100, 100));
  const auto fault = fault_of_writing(101, 100);
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, KernelFault::Kind::OutOfBounds);
  EXPECT_EQ(fault->message, "wrote outside of A");
  EXPECT_FALSE(fault->device_lost);
}

TEST(OnAGpu, WhatIsNoErrorOfTheDriverIsTheCandidatesFault) {
  CandidateObject object;
  object.runs_on = RunsOn::Gpu;
  object.outputs = {0};
  // The fake cannot start it and throws, like a library behind a driver might.
  const std::string cubin = fake_gpu::cubin_of({{"k", "p", "no program"}});
  object.launches.push_back({"k", {}, {{"A", false, 0, 4, "float"}}, cubin});
  const std::unique_ptr<LoadedKernel> loaded = target().load({object.bytes(), "k", 0, 0.0});
  float value = 0;
  void* pointer = &value;
  EXPECT_NO_THROW(loaded->entry()(&pointer, nullptr, nullptr, nullptr));
  const auto fault = loaded->take_fault();
  ASSERT_TRUE(fault);
  EXPECT_EQ(fault->kind, KernelFault::Kind::Crash);
  EXPECT_THAT(fault->message, HasSubstr("Exec format error"));
  EXPECT_GT(loaded->device_seconds(1, &pointer, nullptr).value_or(0), 0);
  EXPECT_TRUE(loaded->take_fault());
}

TEST(OnAGpu, KernelsAreGivenMapsOfTensors) {
  const std::string text = R"(#include "tunesmith_device.cuh"
extern "C" __global__ void __launch_bounds__(64) k(unsigned short* __restrict__ O, const __grid_constant__ TensorMap A_map) {
  __shared__ __align__(1024) unsigned short tile[512];
  __shared__ unsigned long long arrived;
  if (threadIdx.x == 0) {
    mbar_init(&arrived, 1);
    fence_mbar_init();
    mbar_expect(&arrived, 1024);
    tma_load_2d(tile, &A_map, 64, 8, &arrived);
  }
  __syncthreads();
  mbar_wait(&arrived, 0);
  O[threadIdx.x] = tile[threadIdx.x];
}
)";
  const Compilation compilation = KernelCompiler(*Nvrtc::find()).compile(text, "k.cu", "sm_90a");
  ASSERT_TRUE(compilation.succeeded) << compilation.log;
  CandidateObject object;
  object.runs_on = RunsOn::Gpu;
  object.outputs = {1};
  Launch launch;
  launch.block = {64, 1, 1};
  const ObjectArgument map{
      "A", false, 0, int64_t{2} * 128 * 16, "half_t", BoxedTensor::dense({128, 16}, {64, 8})};
  object.launches.push_back({"k", launch, {{"O", false, 1, 128, "half_t"}, map}, compilation.cubin});
  const std::unique_ptr<LoadedKernel> loaded = target().load({object.bytes(), "k", 0, 0.0});
  std::vector<uint16_t> values(size_t{128} * 16), row(64);
  for (size_t i = 0; i < values.size(); ++i) values[i] = static_cast<uint16_t>(i);
  void* pointers[] = {values.data(), row.data()};
  loaded->entry()(pointers, nullptr, nullptr, nullptr);
  const auto fault = loaded->take_fault();
  ASSERT_FALSE(fault) << fault->message;
  // The swizzle does not change the first row.
  for (size_t i = 0; i < row.size(); ++i) EXPECT_EQ(row[i], 8 * 128 + 64 + i);
}

class WithWorker : public ::testing::Test {
 protected:
  ~WithWorker() override { unsetenv("TUNESMITH_FAKE_GPU"); }

  std::unique_ptr<Runner> runner(const Workload& workload, Target& target) {
    return make_worker_runner(
        workload, target, {"cuda", options("detect", "gpu"), {TUNESMITH_BINARY_DIR "/lib/tunesmith/plugins"}},
        {});
  }

  tunesmith::test::TemporaryFolder folder_;
};

TEST_F(WithWorker, TuningFindsVerifiedProgramsWithMeasuredTimes) {
  PluginRegistry registry;
  const Space space(SpacesFile::load(TUNESMITH_SOURCE_DIR "/tests/targets_cuda/gpu/spaces.yaml").space("gpu"),
                    registry);
  const Workload workload = WorkloadLibrary().load("gmm:n=32,m=32,k=32");
  RecordStore store(folder_ / "records.db");
  TuneOptions tune_options;
  tune_options.trials = 6;
  tune_options.batch = 3;
  const TuneResult result =
      tune(workload, space, store, *runner(workload, space.target()), Environment(), tune_options);
  std::string failures;
  for (const auto& [cause, message] : result.first_failures)
    failures += std::string(failure_cause_name(cause)) + ": " + message + "\n";
  EXPECT_GE(result.valid, 3) << failures;
  const std::vector<Record> records = store.list({});
  ASSERT_FALSE(records.empty());
  size_t timed = 0;
  for (const Record& record : records) {
    EXPECT_FALSE(record.modelled());
    EXPECT_THAT(record.target, HasSubstr("device=gpu Fake GPU"));
    if (!record.timing) continue;
    ++timed;
    // The fake's clock always gives the same time.
    EXPECT_GT(record.timing->min, 1e-3);
    EXPECT_LT(record.timing->median, 1.01 * record.timing->min);
  }
  EXPECT_GE(timed, 3u);
}

TEST_F(WithWorker, ALostDeviceIsTheCandidatesFailureAndTheNextOneHasAnother) {
  setenv("TUNESMITH_FAKE_GPU", "fail:bad=719", 1);
  const Workload workload = WorkloadLibrary().load("gmm:n=8,m=8,k=8");
  const LoweredProgram lowered = lower_for(target(), workload.program);
  const auto good = target().compile(lowered, "good"), bad = target().compile(lowered, "bad");
  ASSERT_TRUE(good && bad);
  const std::vector<MeasureRequest> requests{{&*good, 0.0, false}, {&*bad, 0.0, false}, {&*good, 0.0, false}};
  const auto measuring = runner(workload, target());
  const std::vector<MeasureResult> results = measuring->run(requests);
  EXPECT_TRUE(results[0].timing) << results[0].failure->message;
  ASSERT_TRUE(results[1].failure);
  EXPECT_EQ(results[1].failure->cause, FailureCause::Crash);
  EXPECT_THAT(results[1].failure->message, HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
  EXPECT_TRUE(results[2].timing) << results[2].failure->message;

  const std::vector<const CompiledKernel*> kernels{&*good, &*bad, &*good};
  const std::vector<InterleavedTimes> times = measuring->interleave(kernels, {});
  EXPECT_FALSE(times[0].samples.empty());
  ASSERT_TRUE(times[1].failure);
  EXPECT_THAT(times[1].failure->message, HasSubstr("CUDA_ERROR_LAUNCH_FAILED"));
  EXPECT_FALSE(times[2].samples.empty());
}

TEST_F(WithWorker, MistakesInMemoryAreOutOfBounds) {
  const Workload workload = WorkloadLibrary().load("gmm:n=8,m=8,k=8");
  const auto bad = target().compile(lower_for(target(), workload.program), "bad");
  ASSERT_TRUE(bad);
  const std::vector<MeasureRequest> requests{{&*bad, 0.0, false}};
  for (const auto& [fails, name] : {std::pair("fail:bad=700", "CUDA_ERROR_ILLEGAL_ADDRESS"),
                                    std::pair("fail:bad=716", "CUDA_ERROR_MISALIGNED_ADDRESS")}) {
    setenv("TUNESMITH_FAKE_GPU", fails, 1);
    const MeasureResult result = runner(workload, target())->run(requests).front();
    ASSERT_TRUE(result.failure);
    EXPECT_EQ(result.failure->cause, FailureCause::OutOfBounds) << result.failure->message;
    EXPECT_THAT(result.failure->message, HasSubstr(name));
  }
}

TEST_F(WithWorker, AWrongProgramIsRefused) {
  const Workload workload = WorkloadLibrary().load("gmm:n=8,m=8,k=8");
  const Workload other = WorkloadLibrary().load("gmm:n=8,m=8,k=4");
  auto wrong = target().compile(lower_for(target(), other.program), "wrong");
  ASSERT_TRUE(wrong) << wrong.error();
  CandidateObject object = CandidateObject::parse(wrong->object);
  for (ObjectArgument& argument : object.launches.front().arguments)
    if (argument.name == "A" || argument.name == "B") argument.bytes *= 2;
  wrong->object = object.bytes();
  const std::vector<MeasureRequest> requests{{&*wrong, 0.0, false}};
  const MeasureResult result = runner(workload, target())->run(requests).front();
  ASSERT_TRUE(result.failure);
  EXPECT_EQ(result.failure->cause, FailureCause::WrongResult) << result.failure->message;
}

}  // namespace
}  // namespace tunesmith::cuda
