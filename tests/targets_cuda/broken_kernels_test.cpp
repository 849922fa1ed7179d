// Pairs of small kernels, one with a mistake that a reviewer would look for, and a correct one. The mistake
// is found by its name in any order of threads; the correct kernel is clean.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "emulation_run.h"

namespace tunesmith::testing {
namespace {

using cuda::ThreadOrder;
using ::testing::HasSubstr;

constexpr ThreadOrder kOrders[] = {ThreadOrder::Forward, ThreadOrder::Backward, ThreadOrder::Random};

struct Pair {
  const char* kind = "";   // the mistake's name
  const char* wrong = "";  // the body, with `t` the thread
  const char* right = nullptr;
  unsigned threads = 64, blocks = 1;
};

constexpr size_t kElements = 256;

std::string text_of(const std::string& body) {
  return "#include \"tunesmith_device.cuh\"\n"
         "extern \"C\" __global__ void test(int* out, const int* in, int* x) {\n"
         "  const int t = threadIdx.x;\n" +
         body + "}\n";
}

/// Runs in each of kOrders, with 4 KiB of dynamic shared memory. `x` has the same numbers as `in`, and may be
/// written.
std::vector<cuda::EmulationReport> run_body(const Pair& pair, const std::string& body) {
  constexpr size_t kDynamicBytes = 4096;
  cuda::EmulationOptions options;
  options.dynamic_shared_bytes = kDynamicBytes;
  cuda::EmulatedKernel kernel(text_of(body), "test", "test.cu", options);
  EXPECT_TRUE(kernel.compiled()) << kernel.log();
  std::vector<cuda::EmulationReport> reports;
  if (!kernel.compiled()) return reports;
  std::vector<int> numbers(kElements);
  for (size_t i = 0; i < kElements; ++i) numbers[i] = int(i);
  for (const ThreadOrder order : kOrders) {
    std::vector<cuda::EmulatedArgument> arguments{
        output("out", kElements * 4), buffer("in", bytes_of(numbers)), buffer("x", bytes_of(numbers))};
    reports.push_back(kernel.run({{pair.blocks, 1, 1}, {pair.threads, 1, 1}, kDynamicBytes}, arguments,
                                 {.order = order, .time_limit_seconds = 20}));
  }
  return reports;
}

void expect_found(const std::vector<Pair>& pairs) {
  for (const Pair& pair : pairs) {
    for (const cuda::EmulationReport& report : run_body(pair, pair.wrong))
      EXPECT_TRUE(report.found(pair.kind)) << pair.kind << " in\n" << pair.wrong << "\n" << report.text();
    if (pair.right == nullptr) continue;
    for (const cuda::EmulationReport& report : run_body(pair, pair.right))
      EXPECT_TRUE(report.clean()) << "right:\n" << pair.right << "\n" << report.text();
  }
}

TEST(BrokenKernels, TheReadOnlyPathIsForDataThatTheKernelDoesNotWrite) {
  expect_found({
      {"read_only_path", "x[t] = t; __syncthreads(); out[t] = __ldg(x + 63 - t);",
       "x[t] = t; __syncthreads(); out[t] = __ldg(in + 63 - t) + x[63 - t];"},
      // Written after the read, by the thread itself or by another.
      {"read_only_path", "const int v = __ldg(x + t); x[t] = v + 1; out[t] = v;",
       "const int v = x[t]; x[t] = v + 1; out[t] = v;"},
      {"read_only_path", "const int v = __ldg(x + t); __syncthreads(); x[63 - t] = v; out[t] = v;"},
      {"read_only_path", "if (blockIdx.x == 0) x[t] = 1; else out[t] = __ldg(x + t);",
       "if (blockIdx.x == 0) x[t] = 1; else out[t] = __ldg(x + 64 + t);", 64, 2},
      {"read_only_path", "if (blockIdx.x == 1) x[t] = 1; else out[t] = __ldg(x + t);", nullptr, 64, 2},
      {"read_only_path", "atomicAdd(x, 1); __syncthreads(); out[t] = __ldg(x);"},
      {"read_only_path",
       "x[t * 4 + 3] = 1; __syncthreads(); if (t < 16) out[t] = __ldg((const int4*)x + t).x;",
       "x[t + 64] = 1; __syncthreads(); if (t < 16) out[t] = __ldg((const int4*)x + t).x;"},
      {"bad_operand", "__shared__ int s[64]; s[t] = t; out[t] = __ldg(s + t);"},
  });
}

TEST(BrokenKernels, TheSourceOfACopyIsNotWrittenWhileItIsUnderWay) {
  const char* const declare = "__shared__ __align__(16) int s[256]; ";
  const std::string begin = std::string(declare) + "cp_async16(s + t * 4, x + t * 4); cp_async_commit(); ";
  const std::string by_the_same = begin + "x[t * 4] = 1; cp_async_wait<0>(); out[t] = s[t * 4];",
                    by_another = begin +
                                 "__syncthreads(); x[255 - t * 4] = 1; cp_async_wait<0>(); "
                                 "__syncthreads(); out[t] = s[t * 4];",
                    by_an_atomic = begin +
                                   "__syncthreads(); if (t == 0) atomicAdd(x + 100, 1); "
                                   "cp_async_wait<0>(); out[t] = s[t * 4];",
                    too_weak = begin +
                               "cp_async4(s + t, in + t); cp_async_commit(); cp_async_wait<1>(); "
                               "__syncthreads(); out[t] = 0;",
                    right =
                        begin + "cp_async_wait<0>(); __syncthreads(); x[255 - t * 4] = 1; out[t] = s[t * 4];",
                    part = std::string(declare) +
                           "cp_async16_zfill(s + t * 4, x + t * 4, 8); cp_async_commit(); x[t * 4 + 2] = 1; "
                           "cp_async_wait<0>(); out[t] = s[t * 4];";
  expect_found({{"race", by_the_same.c_str(), right.c_str()},
                {"race", by_another.c_str(), part.c_str()},
                {"race", by_an_atomic.c_str()},
                {"race", too_weak.c_str()}});
}

TEST(BrokenKernels, AtomicUpdatesRaceWithPlainAccesses) {
  const std::string zero = "__shared__ int s; if (t == 0) s = 0; __syncthreads(); ";
  const std::string read = zero + "atomicAdd(&s, 1); if (t == 5) out[0] = s;",
                    read_before = zero + "if (t == 5) out[0] = s; atomicAdd(&s, 1);",
                    written = zero + "atomicAdd(&s, 1); if (t == 5) s = 3;",
                    maximum = zero + "if (t != 5) atomicMax(&s, t); else s = t;",
                    right = zero +
                            "atomicAdd(&s, 1); __syncthreads(); if (t == 5) out[0] = s; __syncthreads(); "
                            "if (t == 6) s = 0; __syncthreads(); atomicAdd(&s, 1);",
                    of_a_warp =
                        zero + "if (t < 32) { atomicAdd(&s, 1); __syncwarp(); if (t == 5) out[0] = s; }";
  expect_found({
      {"race", read.c_str(), right.c_str()},
      {"race", read_before.c_str(), of_a_warp.c_str()},
      {"race", written.c_str()},
      {"race", maximum.c_str()},
      {"race", "atomicAdd(x, 1); if (t == 9) out[0] = x[0];",
       "atomicAdd(x, 1); __syncthreads(); if (t == 9) out[0] = x[0];"},
      {"race", "if (blockIdx.x == 0) atomicAdd(x, 1); else out[t] = x[0];",
       "atomicAdd(x + blockIdx.x, 1); __syncthreads(); out[t + 64 * blockIdx.x] = x[blockIdx.x];", 64, 2},
      {"race", "if (blockIdx.x == 1) atomicAdd(x, 1); else out[t] = x[0];", "atomicAdd(x, 1);", 64, 2},
      {"race", "if (blockIdx.x == 0) atomicAdd(x, 1); else if (t == 0) x[0] = 7;", nullptr, 64, 2},
      // After a fence, the last block to arrive reads the others' sums.
      {"race", "if (t == 0) { atomicAdd(x, 1); out[0] = x[0]; }",
       "__threadfence(); __shared__ int last; if (t == 0) last = atomicAdd(x, 1) == 65; __syncthreads(); "
       "if (last && t == 0) { out[0] = x[0]; x[0] = 0; }",
       64, 2},
  });
}

TEST(BrokenKernels, AtomicUpdatesOfWhatHasNoValueOrIsNotShared) {
  expect_found({
      {"uninitialised", "__shared__ int s; atomicAdd(&s, 1); __syncthreads(); out[t] = s;",
       "__shared__ int s; if (t == 0) atomicExch((unsigned*)&s, 0u); __syncthreads(); atomicAdd(&s, 1); "
       "__syncthreads(); out[t] = s;"},
      {"uninitialised", "__shared__ int s; atomicMax(&s, t); __syncthreads(); out[t] = s;"},
      {"misaligned", "atomicAdd((int*)((char*)x + 2), 1);"},
      {"bad_operand", "int own = 0; atomicAdd(&own, t); out[t] = own;"},
      {"out_of_bounds", "atomicAdd(x + 250 + t, 1);"},
  });
}

TEST(BrokenKernels, InputsAreNotWritten) {
  expect_found({
      {"fault", "((int*)in)[t] = 1;", "x[t] = in[t];"},
      {"fault", "atomicAdd((int*)in + t, 1);"},
      {"fault", "if (blockIdx.x == 1 && t == 63) *(int4*)(in + 4) = make_int4(1, 2, 3, 4);", nullptr, 64, 2},
  });
  const auto reports = run_body({}, "if (t == 3) ((int*)in)[7] = 1;");
  ASSERT_FALSE(reports.empty());
  EXPECT_THAT(reports.front().text(), HasSubstr("stores to the input in, at byte 28 of in (1024 bytes)"));
}

TEST(BrokenKernels, WhatIsNotABarrier) {
  const char* const swap = "__shared__ int s[32]; s[t] = t; __syncwarp(); out[t] = s[31 - t];";
  expect_found({
      // A shuffle, a vote or a fence waits for lanes or for memory, but does not order other accesses.
      {"race", "__shared__ int s[32]; s[t] = t; __shfl_sync(~0u, t, 0); out[t] = s[31 - t];", swap, 32},
      {"race", "__shared__ int s[32]; s[t] = t; __ballot_sync(~0u, 1); out[t] = s[31 - t];", swap, 32},
      {"race", "__shared__ int s[32]; s[t] = t; __threadfence_block(); out[t] = s[31 - t];", swap, 32},
      {"race", "__shared__ int s[32]; s[t] = t; __threadfence(); out[t] = s[31 - t];", swap, 32},
      // On older devices the lanes of a warp ran in lockstep.
      {"race",
       "__shared__ int m[32]; volatile int* s = m; s[t] = t; __syncwarp(); if (t < 16) { s[t] += s[t + 16]; "
       "s[t] += s[t + 8]; "
       "} out[t] = 0;",
       swap, 32},
      {"race",
       "__shared__ int s[32]; s[t] = t; __syncwarp(t < 16 ? 0xffffu : 0xffff0000u); out[t] = s[31 - t];",
       swap, 32},
      // Races in global memory are found, too.
      {"race", "x[t] = t; out[t] = x[t ^ 1];", "x[t] = t; __syncthreads(); out[t] = x[t ^ 1];"},
      {"race", "x[t] = t; __syncwarp(); out[t] = x[63 - t];"},
  });
}

TEST(BrokenKernels, LanesThatTakeNoPart) {
  expect_found({
      {"diverged_warp", "if (t < 40) out[t] = __shfl_down_sync(~0u, t, 8); ",
       "if (t < 32) out[t] = "
       "__shfl_down_sync(~0u, t, 8);",
       40},
      {"diverged_warp", "if (t % 2) out[t] = __shfl_sync(0xaaaaaaaau, t, 0);",
       "if (t % 2) out[t] = __shfl_sync(0xaaaaaaaau, t, 1);", 32},
      {"diverged_warp", "out[t] = __shfl_sync(t < 16 ? 0xffffu : ~0u, t, 0);", nullptr, 32},
      {"deadlock", "if (t < 16) out[t] = __shfl_sync(~0u, t, 0); __syncthreads();",
       "const int v = __shfl_sync(~0u, t, 0); if (t < 16) out[t] = v; __syncthreads();", 32},
      {"bad_operand", "out[t] = __shfl_sync(~0u, t, 0, 24);", nullptr, 32},
  });
}

TEST(BrokenKernels, StagesOfCopies) {
  const std::string declare = "__shared__ __align__(16) int s[512]; ";
  const std::string
      twice = declare +
              "cp_async4(s + t, in + t); cp_async_commit(); cp_async4(s + t, in + 64 + t); "
              "cp_async_commit(); cp_async_wait<0>(); out[t] = s[t];",
      // The last step has nothing to fetch and does not commit, so that one group less is under way.
      last = declare +
             "for (int i = 0; i < 3; ++i) { if (i < 2) { cp_async4(s + i * 64 + t, in + i * 64 + t); "
             "cp_async_commit(); } if (i > 0) { cp_async_wait<1>(); out[t] = s[i * 64 - 64 + t]; } }",
      right = declare +
              "for (int i = 0; i < 3; ++i) { if (i < 2) cp_async4(s + i * 64 + t, in + i * "
              "64 + t); cp_async_commit(); if (i > 0) { cp_async_wait<1>(); out[t] = s[i "
              "* 64 - 64 + t]; } }",
      early = declare +
              "cp_async4(s + t, in + t); cp_async_commit(); cp_async_wait<0>(); "
              "__syncthreads(); const int v = s[63 - t]; cp_async4(s + t, in + 64 + t); "
              "cp_async_commit(); cp_async_wait<0>(); out[t] = v + s[t];",
      some = declare +
             "if (t < 32) { cp_async4(s + t, in + t); cp_async_commit(); } "
             "cp_async_wait<0>(); __syncthreads(); out[t] = s[t % 32];",
      to_global = declare + "cp_async4(x + t, in + t); cp_async_commit(); cp_async_wait<0>();",
      of_shared = declare +
                  "s[t] = t; cp_async4(s + 64 + t, s + t); cp_async_commit(); "
                  "cp_async_wait<0>(); out[t] = s[64 + t];",
      nothing = declare +
                "cp_async4_zfill(s + t, (const int*)nullptr, 0); cp_async_commit(); "
                "cp_async_wait<0>(); out[t] = s[t];",
      of_own = declare +
               "int own = t; cp_async4(s + t, &own); cp_async_commit(); "
               "cp_async_wait<0>(); out[t] = s[t];";
  expect_found({{"race", twice.c_str(), some.c_str()},
                {"read_before_wait", last.c_str(), right.c_str()},
                {"race", early.c_str(), nothing.c_str()},
                {"bad_operand", to_global.c_str()},
                {"bad_operand", of_shared.c_str()},
                {"bad_operand", of_own.c_str()}});
}

TEST(BrokenKernels, VariablesOfOtherThreads) {
  expect_found({
      {"out_of_bounds",
       "__shared__ int* p; int own[2] = {t, t}; if (t == 0) p = own; __syncthreads(); if (t == 9) out[t] = "
       "p[1]; "
       "__syncthreads();",
       "__shared__ int s[2]; if (t < 2) s[t] = t; __syncthreads(); int* p = s; out[t] = p[1];"},
      {"out_of_bounds",
       "__shared__ int* p; int own[2] = {t, t}; if (t == 0) p = own; __syncthreads(); if (t == 9) p[0] = 3; "
       "__syncthreads(); out[t] = own[0];"},
  });
}

TEST(BrokenKernels, BarriersInMemory) {
  const std::string declare =
      "__shared__ __align__(8) unsigned long long b[2]; if (t == 0) { mbar_init(b, 64); fence_mbar_init(); } "
      "__syncthreads(); ";
  const std::string right = declare +
                            "mbar_arrive(b); mbar_wait(b, 0); mbar_arrive(b); mbar_wait(b, 1); out[t] = t;",
                    parity = declare +
                             "mbar_arrive(b); mbar_wait(b, 0); mbar_arrive(b); mbar_wait(b, 0); "
                             "mbar_wait(b, 1); mbar_wait(b, 0); out[t] = t;",
                    again = declare +
                            "mbar_arrive(b); mbar_wait(b, 0); __syncthreads(); if (t == 0) mbar_init(b, "
                            "64); __syncthreads(); mbar_arrive(b); mbar_wait(b, 0); out[t] = t;",
                    over = declare +
                           "__syncthreads(); if (t == 5) b[0] = 0; __syncthreads(); mbar_arrive(b); "
                           "mbar_wait(b, 0); out[t] = t;",
                    beside = declare + "mbar_arrive(b + 1); mbar_wait(b + 1, 0);",
                    many = declare +
                           "mbar_arrive(b); if (t == 0) mbar_arrive(b); mbar_wait(b, 0); mbar_arrive(b); "
                           "mbar_wait(b, 1); mbar_wait(b, 0); out[t] = t;";
  expect_found({{"deadlock", parity.c_str(), right.c_str()},
                {"bad_operand", again.c_str()},
                {"bad_operand", over.c_str()},
                {"bad_operand", beside.c_str()}});
}

TEST(BrokenKernels, AddressesThatOnlyHappenToBeAligned) {
  expect_found({
      {"misaligned",
       "extern __shared__ int s[]; if (t == 0) *(int4*)(s + 2) = make_int4(1, 2, 3, 4); out[t] = t;",
       "extern __shared__ int s[]; if (t == 0) *(int4*)(s + 4) = make_int4(1, 2, 3, 4); out[t] = t;"},
      // Dynamic shared memory is only aligned as its declaration says.
      {"fault",
       "extern __shared__ __align__(32) char s[]; if ((smem_u32(s) & 127) != 0) *(volatile int*)8 = 1; "
       "out[t] = t;",
       "extern __shared__ __align__(128) char s[]; if ((smem_u32(s) & 127) != 0) *(volatile int*)8 = 1; "
       "out[t] = t;"},
      // Alignment that does not follow from the declaration is arbitrary.
      {"misaligned", "extern __shared__ char s[]; if (t == 0) *(int2*)(s + 4) = make_int2(1, 2); out[t] = t;",
       "\n#define AT __align__(128)\nextern __shared__ AT char s[]; if ((smem_u32(s) & 127) != 0) "
       "*(volatile int*)8 = 1; out[t] = t;"},
      {"misaligned", "extern __shared__ char s[]; if (t == 0) *(int*)(s + 2) = 1; out[t] = t;",
       "struct __align__(64) Line { int x[16]; }; extern __shared__ Line s[]; if (t < 64) s[t].x[0] = t; "
       "__syncthreads(); out[t] = s[t].x[0];"},
  });
}

// A box has 64 x 64 elements of a tensor to which the kernel also has a pointer.
TEST(BrokenKernels, TheSourceOfABoxIsNotWrittenWhileItIsUnderWay) {
  const auto report_of = [](const std::string& before, const std::string& under_way,
                            const std::string& after) {
    const std::string text = R"(#include "tunesmith_device.cuh"
extern "C" __global__ void test(half_t* A, const __grid_constant__ TensorMap a, int* out) {
  __shared__ __align__(1024) half_t tile[4096];
  __shared__ __align__(8) unsigned long long b;
  const int t = threadIdx.x;
  if (t == 0) { mbar_init(&b, 1); fence_mbar_init(); }
  )" + before + R"(
  __syncthreads();
  if (t == 0) { mbar_expect(&b, 8192); tma_load_2d(tile, &a, 0, 0, &b); }
  )" + under_way + R"(
  mbar_wait(&b, 0);
  out[t] = tile[t];
  )" + after + "\n}\n";
    cuda::EmulatedArgument map;
    map.name = "A";
    map.kind = cuda::EmulatedArgument::Kind::Map;
    map.tensor = cuda::BoxedTensor::dense({64, 64}, {64, 64});
    std::vector<cuda::EmulatedArgument> arguments{buffer("A", std::vector<unsigned char>(8192, 1)), map,
                                                  output("out", kElements)};
    return run_text(text, arguments, 64);
  };
  const cuda::EmulationReport right = report_of("", "", "if (t == 5) A[7] = 1;");
  EXPECT_TRUE(right.clean()) << right.text();
  EXPECT_TRUE(report_of("", "if (t == 0) A[7] = 1;", "").found("race"));
  EXPECT_TRUE(report_of("", "__syncthreads(); if (t == 5) A[4095] = 1;", "").found("race"));
  EXPECT_TRUE(report_of("if (t == 5) A[7] = 1;", "", "").found("missing_proxy_fence"));
}

cuda::EmulationReport launched(const std::string& text, const cuda::Launch& launch) {
  cuda::EmulationOptions options;
  options.dynamic_shared_bytes = launch.dynamic_shared_bytes;
  cuda::EmulatedKernel kernel("extern \"C\" __global__ void " + text, "test", "test.cu", options);
  EXPECT_TRUE(kernel.compiled()) << kernel.log();
  std::vector<cuda::EmulatedArgument> none;
  return kernel.compiled() ? kernel.run(launch, none, {}) : cuda::EmulationReport{};
}

TEST(BrokenKernels, LaunchesThatNoDeviceTakes) {
  const auto refused = [](const std::string& text, const cuda::Launch& launch, const std::string& why) {
    const cuda::EmulationReport report = launched(text, launch);
    EXPECT_TRUE(report.found("bad_launch")) << text << report.text();
    EXPECT_THAT(report.text(), HasSubstr(why));
  };
  refused("test() {}", {{1, 65536, 1}, {1, 1, 1}, 0}, "65536 blocks in dimension 1: 1 to 65535");
  refused("test() {}", {{1, 1, 0}, {1, 1, 1}, 0}, "0 blocks in dimension 2");
  refused("test() {}", {{1, 1, 1}, {1, 1, 65}, 0}, "65 threads in dimension 2: 1 to 64");
  refused("test() {}", {{1, 1, 1}, {32, 33, 1}, 0}, "a block of 1056 threads");
  refused("test() {}", {{1, 1, 1}, {1, 1, 1}, size_t{228} << 10}, "bytes of dynamic shared memory");
  refused("__launch_bounds__(128) test() {}", {{1, 1, 1}, {129, 1, 1}, 0}, "__launch_bounds__ says 128");
  refused("__launch_bounds__(4 * 32, 2)\ntest() {}", {{1, 1, 1}, {160, 1, 1}, 0}, "says 128");
  EXPECT_TRUE(launched("__launch_bounds__(128, 2) test() {}", {{70000, 1, 1}, {128, 1, 1}, 0}).clean());
  // The bounds of another kernel.
  EXPECT_TRUE(launched("__launch_bounds__(32) other() {}\nextern \"C\" __global__ void test() {}",
                       {{1, 1, 1}, {64, 1, 1}, 0})
                  .clean());
}

TEST(BrokenKernels, MoreStaticSharedMemoryThanMayBeDeclared) {
  const auto compile = [](const std::string& text, size_t limit = cuda::kStaticSharedBytes) {
    cuda::EmulationOptions options;
    options.static_shared_bytes = limit;
    return cuda::EmulatedKernel(text, "test", "the_file.cu", options);
  };
  const auto kernel = [](int bytes, const std::string& name = "test") {
    return "extern \"C\" __global__ void " + name + "(int* out) {\n  __shared__ char s[" +
           std::to_string(bytes) +
           "];\n  s[threadIdx.x] = 1;\n  __syncthreads();\n  out[threadIdx.x] = s[threadIdx.x];\n}\n";
  };
  const cuda::EmulatedKernel large = compile(kernel(52000));
  EXPECT_FALSE(large.compiled());
  EXPECT_THAT(large.log(),
              HasSubstr("the_file.cu: error: 52000 bytes of static shared memory, at most 49152"));
  EXPECT_TRUE(compile(kernel(49152)).compiled());
  EXPECT_FALSE(compile(kernel(49153)).compiled());
  // Code for a single architecture may have more.
  EXPECT_TRUE(compile(kernel(52000), size_t{227} << 10).compiled());
  // A function's shared memory belongs to its caller; two kernels of a file each have their own.
  const std::string function = "__device__ char* more() {\n  __shared__ char m[30000];\n  return m;\n}\n";
  const std::string calls =
      function + replaced(kernel(30000), "s[threadIdx.x] = 1;", "s[threadIdx.x] = *more() = 1;");
  EXPECT_FALSE(compile(calls).compiled());
  EXPECT_TRUE(compile(kernel(30000) + kernel(30000, "other")).compiled());
  EXPECT_TRUE(compile(calls + kernel(100, "other")).compiled());
}

TEST(BrokenKernels, NumbersThatTheLanguageLeavesOpen) {
  expect_found({
      {"bad_operand", "out[t] = 1 << (t + 1);", "out[t] = 1 << (t & 31);"},
      {"bad_operand", "out[t] = (unsigned)t >> (t - 1);", "out[t] = (unsigned)t >> t % 32;"},
      {"bad_operand", "out[t] = 7 / t;", "out[t] = 7 / (t + 1);"},
      // The offset does not fit 32 bits.
      {"fault", "out[t] = in[t * 100000000];"},
  });
}

}  // namespace
}  // namespace tunesmith::testing
