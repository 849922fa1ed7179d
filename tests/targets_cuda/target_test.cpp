// Programs through the target: text, emulated run, its report, and modelled time.
#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "candidates/candidate_object.h"
#include "cuda_target.h"
#include "run_candidate.h"
#include "text/expr_text.h"
#include "text/kernel_text.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/performance/grid_work.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith::cuda {
namespace {

using namespace test;

const char* const kOperands = "A: {shape: [12, 8], dtype: f32}, B: {shape: [8, 8], dtype: f32}";
const char* const kProduct = "O[i<12, j<8] = sum(k<8) A[i, k] * B[k, j]";

/// Blocks of 3 x 4 threads, and four more that only help to fetch the operands of four steps.
Schedule cooperative_product() {
  Schedule s(program_of(kOperands, kProduct));
  const BlockRV product = s.get_block("O");
  const std::vector<LoopRV> loops = s.get_loops(product);
  const std::vector<LoopRV> i = s.split(loops[0], {std::nullopt, 3});
  const std::vector<LoopRV> j = s.split(loops[1], {std::nullopt, 4});
  const std::vector<LoopRV> k = s.split(loops[2], {std::nullopt, 4});
  s.reorder({i[0], j[0], k[0], i[1], j[1], k[1]});
  for (const int operand : {0, 1}) {
    const BlockRV copy = s.cache_read(product, operand, "shared");
    s.compute_at(copy, k[0]);
    const std::vector<LoopRV> own = s.get_loops(copy);
    s.bind(s.fuse({own[own.size() - 2], own[own.size() - 1]}), "thread.x");
  }
  s.bind(i[0], "block.y");
  s.bind(j[0], "block.x");
  s.bind(s.fuse({i[1], j[1]}), "thread.x");
  return s;
}

TEST(CudaTarget, WritesReadableText) {
  Schedule s(program_of("X: {shape: [4, 64], dtype: f32}", "O[i<4, j<64] = max(X[i, j], 0) * 2"));
  const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
  const std::vector<LoopRV> parts = s.split(s.fuse({loops[0], loops[1]}), {std::nullopt, 32});
  s.bind(parts[0], "block.x");
  s.bind(parts[1], "thread.x");
  EXPECT_EQ(target().source(lower_for(target(), s.program()), "scale").value(),
            R"(template <class T>
__device__ __forceinline__ T greater(T a, T b) { return a > b ? a : b; }

// scale <<<(8, 1, 1), (32, 1, 1)>>>
extern "C" __global__ void __launch_bounds__(32) scale(const float* __restrict__ X, float* __restrict__ O) {
  const int i_j_f_0 = blockIdx.x;
  const int thread_x = threadIdx.x;
  O[i_j_f_0 * 32 + thread_x] = greater<float>(X[i_j_f_0 * 32 + thread_x], 0.0f) * 2.0f;
}

)");
  expect_right(s.program());
}

TEST(CudaTarget, RunsProgramsWithSharedMemoryAndBarriers) {
  const Schedule s = cooperative_product();
  const std::string text = target().source(lower_for(target(), s.program()), "k").value();
  EXPECT_THAT(text, ::testing::HasSubstr("__shared__ __align__(32) float A_shared[12];"));
  EXPECT_THAT(text, ::testing::HasSubstr("__syncthreads();"));
  expect_right(s.program());
}

TEST(CudaTarget, RunsTheStagesOfAProgramOneAfterTheOther) {
  Schedule s(program_of("X: {shape: [6, 12], dtype: f32}",
                        "S[i<6] = sum(k<12) X[i, k]\n  O[i<6, j<12] = X[i, j] / S[i] + exp(X[i, j])"));
  s.bind(s.get_loops(s.get_block("S"))[0], "thread.x");
  s.bind(s.get_loops(s.get_block("O"))[0], "block.x");
  const LoweredProgram lowered = lower_for(target(), s.program());
  EXPECT_EQ(kernel_texts(lowered, target().execution(), 49152, "k").size(), 2u);
  EXPECT_GE(lowered.workspace_bytes, 24);
  expect_right(s.program());
}

TEST(CudaTarget, RunsEveryTypeAndTheUnscheduledProgram) {
  for (const char* dtype :
       {"f64", "f32", "f16", "bf16", "i32", "i16", "i8", "u8", "u16", "u32", "u64", "i64"}) {
    SCOPED_TRACE(dtype);
    const std::string type = dtype;
    expect_right(program_of("X: {shape: [9], dtype: " + type + "}, Y: {shape: [9], dtype: " + type + "}",
                            "O[i<9] = max(X[i] * Y[8 - i] + X[i], Y[i])"));
  }
}

TEST(CudaTarget, ReadsAtIndicesThatAreData) {
  for (const char* dtype : {"i64", "i32", "u8", "u64"}) {
    SCOPED_TRACE(dtype);
    Schedule s(
        program_of(fmt::format("W: {{shape: [7, 12], dtype: f32}}, I: {{shape: [9, 12], dtype: {}}}", dtype),
                   "O[i<9, j<12] = W[at(I[i, j] // 100), j] + W[at(I[i, j] * 113 * 113 * 113 * 113 * 113), "
                   "at(I[i, 0] % 20)]"));
    const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
    s.bind(loops[0], "block.x");
    const std::vector<LoopRV> columns = s.split(loops[1], {std::nullopt, 4});
    s.bind(columns[0], "thread.x");
    expect_right(s.program());
    s.vectorize(columns[1]);
    expect_right(s.program());
  }
}

TEST(CudaTarget, ComputesFunctionsOfAnglesAndOfBits) {
  for (const char* dtype : {"f64", "f32", "f16"})
    expect_right(
        program_of(fmt::format("X: {{shape: [9], dtype: {}}}", dtype), "O[i<9] = sin(X[i] * 3) - cos(X[i])"));
  for (const char* dtype : {"i64", "i32", "i16", "i8", "u64", "u32", "u16", "u8"}) {
    SCOPED_TRACE(dtype);
    expect_right(program_of(
        fmt::format("X: {{shape: [64], dtype: {0}}}, Y: {{shape: [64], dtype: {0}}}", dtype),
        "A[i<64] = bit_xor(bit_and(X[i], Y[i]), bit_or(X[i], 5)) + bit_not(Y[i])\n"
        "  O[i<64] = shift_left(A[i], Y[i] % 70) - shift_right(A[i], X[i] % 70) + shift_right(X[i], 3)"));
  }
}

TEST(CudaTarget, RoundsToTheNearestInteger) {
  for (const char* dtype : {"f64", "f32", "f16", "bf16"})
    for (const char* value : {"round_even(X[i] * 8)", "i8(round_even(X[i] * 200))"})
      expect_right(program_of(fmt::format("X: {{shape: [64], dtype: {}}}", dtype),
                              fmt::format("O[i<64] = {}", value)));
}

TEST(CudaTarget, DividesUnsignedIntegersByTheLargestOfTheirTypes) {
  for (const char* dtype : {"u8", "u16", "u32"}) {
    SCOPED_TRACE(dtype);
    const std::string largest = dtype == std::string("u8")    ? "255"
                                : dtype == std::string("u16") ? "65535"
                                                              : "4294967295";
    expect_right(program_of(fmt::format("X: {{shape: [64], dtype: {}}}", dtype),
                            fmt::format("O[i<64] = (X[i] - 1) // {0} + (X[i] - 1) % {0}", largest)));
  }
}

TEST(CudaTarget, MultipliesUpAndFindsPositions) {
  expect_right(program_of("X: {shape: [6, 12], dtype: f32}",
                          "P[i<6] = prod(k<12) X[i, k]\n  O[i<6] = P[i] + f32(argmax(k<12) X[i, k])"));
}

TEST(CudaTarget, SaysWhatACallDidWrong) {
  const Schedule s = cooperative_product();
  LoweredProgram lowered = lower_for(target(), s.program());
  const std::vector<Barrier*> barriers = collect<Barrier>(lowered.program.root());
  ASSERT_EQ(barriers.size(), 2u);
  for (size_t left_out = 0; left_out < barriers.size(); ++left_out) {
    LoweredProgram wrong = lower_for(target(), s.program());
    replace(*collect<Barrier>(wrong.program.root())[left_out], nullptr);
    const auto kernel = target().compile(wrong, "k");
    ASSERT_TRUE(kernel.has_value()) << kernel.error();
    const Called called = call(wrong, *kernel);
    ASSERT_TRUE(called.fault.has_value()) << "without barrier " << left_out;
    EXPECT_EQ(called.fault->kind, KernelFault::Kind::Mistake) << called.fault->message;
  }
}

double modelled_seconds(const LoweredProgram& lowered) {
  return grid_seconds(lowered.program, target().execution(), target().device());
}

TEST(CudaTarget, GivesAModelsTimeAndSaysSo) {
  EXPECT_TRUE(target().models_times());
  EXPECT_THAT(target().identity(), ::testing::HasSubstr("times=modelled"));
  const LoweredProgram plain = lower_for(target(), program_of(kOperands, kProduct));
  const auto kernel = target().compile(plain, "k");
  ASSERT_TRUE(kernel.has_value()) << kernel.error();
  const auto seconds = target().load(*kernel)->modelled_seconds();
  ASSERT_TRUE(seconds.has_value());
  EXPECT_DOUBLE_EQ(*seconds, modelled_seconds(plain));
  // The vendor says 19.5 Tflop/s.
  EXPECT_NEAR(measure_peak(target(), kF32, 1), 19.5e12, 0.1e12);
}

TEST(CudaTarget, TheModelPrefersMoreOfTheDevice) {
  const auto with = [](int64_t threads) {
    Schedule s(program_of("A: {shape: [256, 256], dtype: f32}, B: {shape: [256, 256], dtype: f32}",
                          "O[i<256, j<256] = sum(k<256) A[i, k] * B[k, j]"));
    const std::vector<LoopRV> loops = s.get_loops(s.get_block("O"));
    if (threads > 0) {
      const std::vector<LoopRV> parts = s.split(s.fuse({loops[0], loops[1]}), {std::nullopt, threads});
      s.bind(parts[0], "block.x");
      s.bind(parts[1], "thread.x");
    }
    return modelled_seconds(lower_for(target(), s.program()));
  };
  EXPECT_GT(with(0), 1000 * with(128)) << "one thread does all";
  EXPECT_GT(with(1), 4 * with(128)) << "one lane of a warp does all";
}

TEST(CudaTarget, LimitsAreTheArchitectures) {
  Schedule s(program_of("X: {shape: [2048], dtype: f32}", "O[i<2048] = X[i]"));
  s.bind(s.get_loops(s.get_block("O"))[0], "thread.x");
  EXPECT_THAT([&] { lower_for(target(), s.program()); },
              ::testing::ThrowsMessage<LowerError>(::testing::HasSubstr("of at most 1024")));
  EXPECT_EQ(execution_model_fault(target().execution()), "");
}

// The candidate shares the memory of the process that runs it, so it can write any report.
TEST(EmulatedCandidate, ItsProcessMayReportAnything) {
  for (const char* report : {"counter\\tonly_barriers\\tnone", "count\\trace\\t", "granule\\tshared\\tx"}) {
    CandidateObject object;
    object.outputs = {0};
    const std::string program = std::string("#!/bin/sh\nprintf '") + report + "\\n'\n";
    object.launches.push_back({"k", {}, {{"A", false, 0, int64_t{sizeof(float)}, "float"}}, program});
    const std::unique_ptr<LoadedKernel> loaded = test::target().load({object.bytes(), "k", 0, 0.0});
    float value = 0.0f;
    void* pointer = &value;
    ASSERT_NO_THROW(loaded->entry()(&pointer, nullptr, nullptr, nullptr)) << report;
    const auto fault = loaded->take_fault();
    ASSERT_TRUE(fault) << report;
    EXPECT_EQ(fault->kind, KernelFault::Kind::Crash);
    EXPECT_THAT(fault->message, testing::HasSubstr("ended with exit code 0")) << report;
  }
}

TEST(CandidateObject, ADamagedOneIsRefused) {
  CandidateObject object;
  object.modelled_seconds = 2.5;
  object.source = "text";
  object.outputs = {2};
  object.launches.push_back({"k",
                             {{3, 1, 1}, {32, 1, 1}, 0},
                             {{"A", false, 0, 16, "float"}, {"W", true, 64, 8, "half_t"}},
                             "program"});
  const std::string bytes = object.bytes();
  const CandidateObject same = CandidateObject::parse(bytes);
  EXPECT_EQ(same.modelled_seconds, 2.5);
  EXPECT_EQ(same.launches.at(0).launch.grid[0], 3u);
  EXPECT_EQ(same.source, "text");
  EXPECT_EQ(same.launches.at(0).kernel, "k");
  EXPECT_EQ(same.launches.at(0).arguments.at(1).name, "W");
  EXPECT_EQ(same.launches.at(0).arguments.at(1).type, "half_t");
  EXPECT_TRUE(same.launches.at(0).arguments.at(1).in_workspace);
  EXPECT_EQ(same.launches.at(0).program, "program");
  for (size_t i = 0; i < bytes.size(); ++i) {
    std::string damaged = bytes;
    damaged[i] = static_cast<char>(damaged[i] ^ 4);
    EXPECT_THROW(CandidateObject::parse(damaged), EnvironmentError) << i;
    EXPECT_THROW(CandidateObject::parse(bytes.substr(0, i)), EnvironmentError) << i;
  }
}

TEST(Names, AreValidAndEachOnce) {
  Names names;
  EXPECT_EQ(names.fresh("A"), "A");
  EXPECT_EQ(names.fresh("A"), "A_1");
  EXPECT_EQ(names.fresh("float"), "float_1");
  EXPECT_EQ(names.fresh("a__b.c"), "a_b_c");
  EXPECT_EQ(names.fresh("3x"), "v3x");
  EXPECT_EQ(names.fresh(""), "v");
}

/// The text of a product whose `size` x `size` results are unrolled in each step.
std::string product_text(int64_t size) {
  const std::string side = std::to_string(size);
  Schedule schedule(
      program_of("A: {shape: [" + side + ", 64], dtype: f32}, B: {shape: [64, " + side + "], dtype: f32}",
                 "O[i<" + side + ", j<" + side + "] = sum(r<64) A[i, r] * B[r, j]"));
  const std::vector<LoopRV> loops = schedule.get_loops(schedule.get_block("O"));
  schedule.decompose_reduction(schedule.get_block("O"), loops[0]);
  schedule.reorder({loops[2], loops[0], loops[1]});
  schedule.unroll(loops[0]);
  schedule.unroll(loops[1]);
  return *target().source(lower_for(target(), schedule.program()), "k");
}

// NVRTC unrolls loops by itself, which takes seconds for large bodies, and keeps everything in registers.
TEST(CudaText, LoopsOfLargeBodiesAreWrittenOutALittle) {
  EXPECT_THAT(product_text(16), ::testing::HasSubstr("#pragma unroll 1\n"));
  EXPECT_THAT(product_text(8), ::testing::HasSubstr("#pragma unroll 4\n"));
  EXPECT_THAT(product_text(4), ::testing::Not(::testing::ContainsRegex("#pragma unroll [0-9]")));
}

}  // namespace
}  // namespace tunesmith::cuda
