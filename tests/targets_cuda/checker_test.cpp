// The checker's reports on small kernels, by the kind of mistake, and what it must not report.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulation_run.h"

namespace tunesmith::testing {
namespace {

using ::testing::HasSubstr;

std::string kernel(const std::string& body, const std::string& parameters = "int* out") {
  return "#include \"tunesmith_device.cuh\"\nextern \"C\" __global__ void test(" + parameters +
         ") {\n  const int t = threadIdx.x;\n" + body + "}\n";
}

cuda::EmulationReport run_body(const std::string& body, unsigned threads = 64, unsigned blocks = 1) {
  std::vector<cuda::EmulatedArgument> arguments{output("out", size_t(threads) * blocks * 4)};
  return run_text(kernel(body), arguments, threads, 1024, blocks);
}

void finds(const std::string& kind, const std::string& body, unsigned threads = 64, unsigned blocks = 1) {
  const cuda::EmulationReport report = run_body(body, threads, blocks);
  EXPECT_TRUE(report.found(kind)) << kind << " in\n" << body << report.text();
}

void finds_nothing(const std::string& body, unsigned threads = 64, unsigned blocks = 1) {
  const cuda::EmulationReport report = run_body(body, threads, blocks);
  EXPECT_TRUE(report.clean()) << body << report.text();
}

TEST(Checker, RacesOfEachOrder) {
  finds("race", "  __shared__ int s[64]; s[t] = t; out[t] = s[63 - t];\n");  // read after write
  finds("race",
        "  __shared__ int s[64]; s[t] = t; __syncthreads(); int v = s[63 - t]; s[t] = v; out[t] = v;\n");
  finds("race", "  __shared__ int s[1]; s[0] = t; __syncthreads(); out[t] = s[0];\n");  // write after write
  finds_nothing(
      "  __shared__ int s[64]; s[t] = t; __syncthreads(); int v = s[63 - t]; __syncthreads(); s[t] = v; "
      "out[t] = s[t];\n");
}

TEST(Checker, ARaceIsFoundThoughTheValueIsRight) {
  const cuda::EmulationReport report =
      run_body("  __shared__ int s[64]; s[t] = 1; out[t] = t > 0 ? s[t - 1] : 0;\n");
  EXPECT_TRUE(report.found("race"));
  EXPECT_NE(report.text().find("byte"), std::string::npos) << report.text();
}

// Then only one order is checked (emulated_candidate.cpp), so all orders must find the same.
TEST(Checker, TheOrderOfThreadsDoesNotMatterWhereOnlyBarriersOrderThem) {
  const struct {
    const char* body;
    bool only_barriers;
  } kernels[] = {
      {"  __shared__ int s[64]; s[t] = t; out[t] = s[63 - t];\n", true},
      {"  __shared__ int s[64]; s[t] = 1; out[t] = t > 0 ? s[t - 1] : 0;\n", true},
      {"  __shared__ int s[64]; s[t] = 1; __syncthreads(); out[t] = s[t ^ 1]; if (t == 7) s[3] = 1;\n", true},
      {"  __shared__ int s[64]; s[t] = 1; __syncthreads(); if (t > 1) out[t] = s[0]; if (t == 0) s[0] = 1;\n",
       true},
      {"  __shared__ int s[64]; if (t < 63) s[t] = 1; __syncthreads(); out[t] = s[t];\n", true},
      {"  __shared__ __align__(16) int s[64]; cp_async4(&s[t], &out[t]); cp_async_commit(); out[t] = s[t];\n",
       true},
      {"  __shared__ __align__(16) int s[64]; cp_async4(&s[t], &out[t]); cp_async_commit(); "
       "cp_async_wait<0>(); "
       "if (s[63 - t] < 0) out[t] = 1;\n",
       true},
      {"  __shared__ __align__(16) int s[64]; cp_async4(&s[t], &out[t]); cp_async_commit(); "
       "cp_async_wait<0>(); "
       "__syncthreads(); int v = s[63 - t]; __syncthreads(); out[t] = v;\n",
       true},
      {"  __shared__ int s[64]; s[t] = t; __syncwarp(); out[t] = s[t ^ 1];\n", false},
      {"  out[t] = __shfl_sync(0xffffffffu, t, 0);\n", false},
      {"  out[0] = t;\n", true},
      {"  out[t] = 1; if (blockIdx.x == 1) out[0] = 1;\n", true},
  };
  for (const auto& [body, only_barriers] : kernels) {
    cuda::EmulatedKernel emulated(kernel(body), "test", "test.cu", {});
    ASSERT_TRUE(emulated.compiled()) << emulated.log();
    std::vector<std::string> kinds;
    for (const cuda::ThreadOrder order :
         {cuda::ThreadOrder::Forward, cuda::ThreadOrder::Backward, cuda::ThreadOrder::Random}) {
      std::vector<cuda::EmulatedArgument> arguments{output("out", 64 * 4)};
      cuda::EmulationReport report = emulated.run({{2, 1, 1}, {64, 1, 1}, 0}, arguments, {.order = order});
      kinds.emplace_back();
      for (const cuda::EmulatedFinding& finding : report.findings) kinds.back() += finding.kind + " ";
      EXPECT_EQ(report.counters["only_barriers"], only_barriers ? 1U : 0U) << body;
      const cuda::EmulationReport unchecked =
          emulated.run({{2, 1, 1}, {64, 1, 1}, 0}, arguments, {.order = order, .check_accesses = false});
      EXPECT_TRUE(unchecked.clean()) << unchecked.text();
    }
    EXPECT_EQ(kinds[0].empty(), kinds[1].empty()) << body << kinds[0] << "| " << kinds[1];
    EXPECT_EQ(kinds[0].empty(), kinds[2].empty()) << body << kinds[0] << "| " << kinds[2];
  }
}

// Therefore candidates of three or more blocks run only once (emulated_candidate.cpp).
TEST(Checker, BlocksTakeTurnsWithTheOrdersOfThreads) {
  cuda::EmulatedKernel last(kernel("  out[blockIdx.x] = t;\n"), "test", "test.cu", {});
  ASSERT_TRUE(last.compiled()) << last.log();
  const auto run = [&](const cuda::EmulatedRun& how) {
    std::vector<cuda::EmulatedArgument> arguments{output("out", 5 * 4)};
    const cuda::EmulationReport report = last.run({{5, 1, 1}, {64, 1, 1}, 0}, arguments, how);
    EXPECT_EQ(report.found("race"), how.check_accesses);
    if (how.check_accesses) {
      EXPECT_THAT(report.text(), HasSubstr("threads in forward order"));
    }
    return values_of<int>(arguments[0].bytes);
  };
  using cuda::ThreadOrder;
  const std::vector<int> turns = run({.in_turn = true, .check_accesses = false});
  EXPECT_EQ(turns[0], 63);
  EXPECT_EQ(turns[1], 0);
  EXPECT_EQ(turns[3], 63);
  EXPECT_EQ(turns[4], 0);
  const std::vector<int> from_backward =
      run({.order = ThreadOrder::Backward, .in_turn = true, .check_accesses = false});
  EXPECT_EQ(from_backward[0], 0);
  EXPECT_EQ(from_backward[2], 63);
  EXPECT_EQ(run({.order = ThreadOrder::Backward, .check_accesses = false}), std::vector<int>(5, 0));
  EXPECT_EQ(run({}), std::vector<int>(5, 63));
}

TEST(Checker, LanesOfAWarpAreOrderedBySyncwarpOnly) {
  finds("race", "  __shared__ int s[32]; s[t] = t; out[t] = s[31 - t];\n", 32);
  finds_nothing(
      "  __shared__ int s[32]; s[t] = t; __syncwarp(); int v = s[31 - t]; __syncwarp(); s[t] = v; out[t] = "
      "s[t];\n",
      32);
  // A tree in which several lanes have read an element before another one writes it.
  finds_nothing(
      "  __shared__ int s[32]; s[t] = t;\n"
      "  for (int d = 16; d > 0; d >>= 1) { __syncwarp(); int v = s[t] + s[(t + d) % 32]; __syncwarp(); s[t] "
      "= v; }\n"
      "  out[t] = s[t];\n",
      32);
  // Each of two warps is ordered only within itself.
  finds("race", "  __shared__ int s[64]; s[t] = t; __syncwarp(); out[t] = s[63 - t];\n", 64);
  // A part of a warp orders that part.
  finds("race", "  __shared__ int s[32]; s[t] = t; if (t < 16) __syncwarp(0xffff); out[t] = s[31 - t];\n",
        32);
  finds_nothing("  __shared__ int s[32]; s[t] = t; if (t < 16) { __syncwarp(0xffff); out[t] = s[15 - t]; }\n",
                32);
}

TEST(Checker, BytesOfOneWordAreDifferentPlaces) {
  finds_nothing("  __shared__ unsigned char s[64]; s[t] = t; __syncthreads(); out[t] = s[63 - t];\n");
  finds("race", "  __shared__ unsigned char s[64]; s[t] = t; out[t] = s[t ^ 1];\n");
  finds_nothing("  __shared__ short s[64]; s[t] = t; __syncthreads(); out[t] = s[63 - t];\n");
}

TEST(Checker, SharedMemoryBeginsAsNothing) {
  finds("uninitialised", "  __shared__ int s[64]; if (t < 63) s[t] = t; __syncthreads(); out[t] = s[t];\n");
  finds("uninitialised",
        "  __shared__ int s[64]; if (blockIdx.x == 0) s[t] = t; __syncthreads(); out[blockIdx.x * 64 + t] = "
        "s[t];\n",
        64, 2);
}

TEST(Checker, AccessesOutsideOfTheArguments) {
  finds("out_of_bounds", "  out[t + 1] = t;\n");
  finds("out_of_bounds", "  if (t == 0) out[0] = out[-1];\n");
  finds("out_of_bounds", "  extern __shared__ int s[]; s[t * 4 + 4] = t; out[t] = 0;\n");
  finds("misaligned", "  if (t == 0) *(int4*)(out + 1) = make_int4(1, 2, 3, 4);\n");
  // Far away nothing is mapped.
  finds("fault", "  if (t == 5) out[1 << 20] = t;\n");
}

TEST(Checker, AccessesBeyondAnArrayOfAThread) {
  const std::string array = "  int own[4] = {t, t, t, t};\n";
  finds("out_of_bounds", array + "  out[t] = own[t];\n");
  finds("out_of_bounds", array + "  own[t - 60] = 1; out[t] = own[3];\n");
  finds("out_of_bounds", array + "  for (int i = 0; i <= 4; ++i) own[i] += 1;\n  out[t] = own[3];\n");
  finds("out_of_bounds", "  __shared__ int s[64], next[64]; s[t] = next[t] = t; out[t] = s[t + 64];\n");
  finds_nothing(array + "  for (int i = 0; i < 4; ++i) own[i] += 1;\n  out[t] = own[t % 4];\n");
  // The message says where, and of which array.
  const std::string text = run_body(array + "  out[t] = own[t];\n").text();
  EXPECT_NE(text.find("element 4 of an array 'int [4]'"), std::string::npos) << text;
}

TEST(Checker, BarriersThatNotAllThreadsReach) {
  finds("divergent_barrier", "  if (t < 32) __syncthreads(); else __syncthreads(); out[t] = t;\n");
  finds("divergent_barrier", "  if (t < 32) __syncthreads();\n  else\n    __syncthreads();\n  out[t] = t;\n");
  finds("thread_left", "  if (t == 3) return;\n  __syncthreads(); out[t] = t;\n");
  finds("thread_left", "  if (t < 32) __syncthreads(); out[t] = t;\n");
  finds("diverged_warp",
        "  if (t % 32 < 16) __syncwarp();\n  else out[t] = __shfl_sync(0xffffffffu, t, 0);\n");
  finds("diverged_warp", "  if (t < 40) out[t] = __shfl_sync(0x1u, t, 0);\n");
  finds("diverged_warp", "  if (t < 31) out[t] = __shfl_sync(0xffffffffu, t, 31);\n", 32);
  finds("deadlock",
        "  __shared__ __align__(8) long long b[1]; if (t == 0) mbar_init(b, 2); __syncthreads(); "
        "mbar_wait(b, 0); out[t] = t;\n");
}

TEST(Checker, LanesThatHaveReturnedAreNotWaitedFor) {
  finds_nothing("  if (t >= 16) return;\n  out[t] = __shfl_xor_sync(0xffffffffu, t, 1);\n", 32);
  finds_nothing("  if (t < 16) return;\n  __syncwarp(); out[t] = __shfl_xor_sync(0xffffffffu, t, 1);\n", 32);
}

TEST(Checker, AsynchronousCopies) {
  const std::string declare =
      "  __shared__ __align__(16) int s[256]; __shared__ int x;\n  if (t == 0) x = 0;\n";
  const auto copy = [&](const std::string& rest) {
    std::vector<int> numbers(256);
    for (int i = 0; i < 256; ++i) numbers[size_t(i)] = i;
    std::vector<cuda::EmulatedArgument> arguments{output("out", 1024), buffer("in", bytes_of(numbers))};
    return run_text(kernel(declare + rest, "int* out, const int* in"), arguments, 64);
  };
  EXPECT_TRUE(copy("  cp_async16(s + t * 4, in + t * 4); cp_async_commit(); cp_async_wait<0>(); "
                   "__syncthreads(); out[t] = s[255 - t];\n")
                  .clean());
  EXPECT_TRUE(
      copy("  cp_async16(s + t * 4, in + t * 4); cp_async_commit(); __syncthreads(); out[t] = s[t * 4];\n")
          .found("read_before_wait"));
  EXPECT_TRUE(
      copy("  cp_async16(s + t * 4, in + t * 4); cp_async_commit(); cp_async_wait<1>(); out[t] = s[t * 4];\n")
          .found("read_before_wait"));
  EXPECT_TRUE(copy("  cp_async16(s + t * 4, in + t * 4); cp_async_wait<0>(); out[t] = s[t * 4];\n")
                  .found("read_before_wait"));  // not committed
  EXPECT_TRUE(copy("  cp_async16(s + t * 4, in + t * 4); cp_async_commit(); cp_async_wait<0>(); out[t] = "
                   "s[255 - t];\n")
                  .found("race"));
  EXPECT_TRUE(copy("  cp_async16(s + t * 4, in + t * 4); s[t * 4] = 1; cp_async_commit(); "
                   "cp_async_wait<0>(); out[t] = 0;\n")
                  .found("race"));
  EXPECT_TRUE(
      copy("  cp_async16(s + t * 4 + 1, in + t * 4); cp_async_commit(); cp_async_wait<0>(); out[t] = 0;\n")
          .found("bad_operand"));
  EXPECT_TRUE(
      copy("  cp_async16(s + t * 4, in + t * 8); cp_async_commit(); cp_async_wait<0>(); out[t] = 0;\n")
          .found("out_of_bounds"));
}

TEST(Checker, TheRestOfACopyIsZero) {
  std::vector<int> numbers{1, 2, 3, 4};
  std::vector<cuda::EmulatedArgument> arguments{output("out", 16), buffer("in", bytes_of(numbers))};
  const cuda::EmulationReport report =
      run_text(kernel("  __shared__ __align__(16) int s[4];\n  if (t == 0) cp_async16_zfill(s, in, 8); "
                      "cp_async_commit(); cp_async_wait<0>(); "
                      "__syncthreads();\n  if (t < 4) out[t] = s[t];\n",
                      "int* out, const int* in"),
               arguments, 32);
  EXPECT_TRUE(report.clean()) << report.text();
  EXPECT_EQ(values_of<int>(arguments[0].bytes), (std::vector<int>{1, 2, 0, 0}));
}

TEST(Checker, BlocksAreOrderedByNothing) {
  finds("race", "  out[0] = blockIdx.x;\n", 1, 2);
  finds("race", "  if (blockIdx.x == 0) out[0] = 1; else out[1] = out[0];\n", 1, 2);
  finds_nothing("  atomicAdd(out, 1);\n", 32, 2);
  finds_nothing("  out[blockIdx.x * 32 + t] = t;\n", 32, 2);
}

TEST(Checker, ATimeLimitEndsAKernelThatDoesNotEnd) {
  cuda::EmulatedKernel kernel_that_spins(kernel("  volatile int i = 0; while (i == 0) {} out[t] = t;\n"),
                                         "test", "test.cu", {});
  ASSERT_TRUE(kernel_that_spins.compiled()) << kernel_that_spins.log();
  std::vector<cuda::EmulatedArgument> arguments{output("out", 128)};
  const cuda::EmulationReport report =
      kernel_that_spins.run({{1, 1, 1}, {32, 1, 1}, 0}, arguments, {.time_limit_seconds = 0.5});
  EXPECT_EQ(report.failure, "ran longer than 0.5 s");
}

TEST(Checker, ALaunchThatDoesNotFitTheKernel) {
  std::vector<cuda::EmulatedArgument> none;
  EXPECT_TRUE(run_text(kernel("  out[t] = t;\n"), none, 32).found("bad_launch"));
  std::vector<cuda::EmulatedArgument> number{value(1)};
  EXPECT_TRUE(run_text(kernel("  out[t] = t;\n"), number, 32).found("bad_launch"));
  std::vector<cuda::EmulatedArgument> right{output("out", 8192)};
  EXPECT_TRUE(run_text(kernel("  out[t] = t;\n"), right, 1025).found("bad_launch"));
}

TEST(Checker, WhatTheEmulationLacksDoesNotCompile) {
  const cuda::EmulatedKernel with_assembly(kernel("  asm volatile(\"bar.sync 1, 64;\"); out[t] = t;\n"),
                                           "test", "test.cu", {});
  EXPECT_FALSE(with_assembly.compiled());
  const cuda::EmulatedKernel named_otherwise(kernel("  out[t] = t;\n"), "another", "test.cu", {});
  EXPECT_FALSE(named_otherwise.compiled());
  const cuda::EmulatedKernel unknown(kernel("  out[t] = __unknown_intrinsic(t);\n"), "test", "the_file.cu",
                                     {});
  EXPECT_FALSE(unknown.compiled());
  EXPECT_NE(unknown.log().find("the_file.cu:4"), std::string::npos) << unknown.log();
}

}  // namespace
}  // namespace tunesmith::testing
