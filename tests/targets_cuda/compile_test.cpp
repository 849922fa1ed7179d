// Compiling: ptxas's messages, refusals because of them, the cache, and, if NVRTC is installed, the kernels.
#include <cstdlib>
#include <fstream>
#include <thread>

#include <gtest/gtest.h>

#include "emulation_run.h"
#include "machine/architecture.h"
#include "nvrtc/cubin_cache.h"
#include "nvrtc/kernel_compiler.h"
#include "nvrtc/refusal.h"
#include "support/support_folder.h"
#include "support/temporary_folder.h"
#include "tunesmith/support/error.h"

namespace tunesmith::testing {
namespace {

using namespace tunesmith::cuda;

#define SKIP_WITHOUT_NVRTC() \
  if (Nvrtc::find() == nullptr) GTEST_SKIP() << "no NVRTC: " << Nvrtc::why_absent()

constexpr const char* kLog =
    "ptxas info    : 0 bytes gmem\n"
    "ptxas info    : Compiling entry function 'first' for 'sm_80'\n"
    "ptxas info    : Function properties for first\n"
    "    496 bytes stack frame, 1476 bytes spill stores, 1480 bytes spill loads\n"
    "ptxas info    : Used 255 registers, used 1 barriers, 496 bytes cumulative stack size, 16640 bytes smem, "
    "380 bytes cmem[0]\n"
    "ptxas info    : Compiling entry function 'second' for 'sm_80'\n"
    "ptxas info    : Function properties for second\n"
    "    0 bytes stack frame, 0 bytes spill stores, 0 bytes spill loads\n"
    "ptxas info    : Used 94 registers, 380 bytes cmem[0]\n";

TEST(CompileLog, TellsWhatEachKernelTakes) {
  const CompileLog log = read_compile_log(kLog);
  ASSERT_EQ(log.kernels.size(), 2u);
  EXPECT_EQ(log.kernels[0].name, "first");
  EXPECT_EQ(log.kernels[0].registers, 255u);
  EXPECT_EQ(log.kernels[0].stack_bytes, 496u);
  EXPECT_EQ(log.kernels[0].spill_store_bytes, 1476u);
  EXPECT_EQ(log.kernels[0].spill_load_bytes, 1480u);
  EXPECT_EQ(log.kernels[0].static_shared_bytes, 16640u);
  EXPECT_EQ(log.kernels[1].registers, 94u);
  EXPECT_EQ(log.kernels[1].spill_store_bytes, 0u);
  EXPECT_TRUE(log.serialisations.empty());
}

TEST(CompileLog, TellsOfSerialisation) {
  for (const char* line : {"ptxas info    : (C7514) Potential Performance Loss: wgmma.mma_async instructions "
                           "are serialized due to x",
                           "ptxas info    : (C7508) Potential Performance Loss: 'setmaxnreg' ignored; unable "
                           "to determine register count",
                           "ptxas info    : (C7517) Potential Performance Loss: warpgroup.wait is injected",
                           "ptxas info    : (C7519) warpgroup.arrive is injected"})
    EXPECT_EQ(read_compile_log(line).serialisations.size(), 1u) << line;
}

TEST(Architectures, AreInTheFileWithTheirLimits) {
  for (const char* name : {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90", "sm_90a", "sm_100a", "sm_120"})
    EXPECT_EQ(find_architecture(name).name, name);
  try {
    find_architecture("sm_91");
    FAIL() << "sm_91 is none";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("did you mean 'sm_9"), std::string::npos) << error.what();
  }
}

TEST(Architectures, AMistakeInTheFileIsNamedWithItsPlace) {
  const TemporaryFolder folder;
  const auto message = [&](const std::string& text) -> std::string {
    const auto file = folder.path() / "architectures.yaml";
    std::ofstream(file) << text;
    try {
      read_architectures(file);
    } catch (const UserError& error) {
      return error.what();
    }
    return "";
  };
  EXPECT_NE(message("sm_1: {register: 1}\n").find("architectures.yaml:1:8"), std::string::npos);
  EXPECT_NE(message("sm_1: {registers: 1}\n").find("lacks 'warps'"), std::string::npos);
  EXPECT_NE(message("sm_1: {registers: many}\n").find(":1:"), std::string::npos);
}

TEST(Architectures, HoldAsManyBlocksAsTheVendorsCalculatorSays) {
  const Architecture sm_80 = find_architecture("sm_80"), sm_90a = find_architecture("sm_90a");
  // Registers, threads and shared bytes of hand-written kernels; the results are from cuda_occupancy.h.
  EXPECT_EQ(sm_80.resident_blocks(128, 256, 16640), 2u);
  EXPECT_EQ(sm_80.resident_blocks(232, 128, 65536), 2u);
  EXPECT_EQ(sm_90a.resident_blocks(94, 256, 132096), 1u);
  EXPECT_EQ(sm_90a.resident_blocks(168, 384, 198656), 1u);
  EXPECT_EQ(sm_80.resident_blocks(16, 32, 0), 32u);
  EXPECT_EQ(sm_80.resident_blocks(255, 512, 0), 0u);
  EXPECT_EQ(sm_80.resident_blocks(32, 128, 166913), 0u);
  EXPECT_EQ(sm_80.resident_blocks(32, 1025, 0), 0u);
}

TEST(Refusals, AreByCause) {
  const Architecture sm_80 = find_architecture("sm_80");
  Compilation compilation;
  compilation.succeeded = true;
  compilation.notes = read_compile_log(kLog);
  const auto cause = [&](const std::string& kernel, const Launch& launch) -> std::string {
    const std::optional<Refusal> refusal = refuse(compilation, kernel, sm_80, launch);
    return refusal ? refusal_name(refusal->cause) : "";
  };
  EXPECT_EQ(cause("second", {{1, 1, 1}, {256, 1, 1}, 0}), "");
  EXPECT_EQ(cause("first", {{1, 1, 1}, {128, 1, 1}, 0}), "spills");
  EXPECT_EQ(cause("first", {{1, 1, 1}, {512, 1, 1}, 0}), "over_limit");
  EXPECT_EQ(cause("second", {{1, 1, 1}, {1024, 2, 1}, 0}), "over_limit");
  EXPECT_EQ(cause("second", {{1, 65536, 1}, {32, 1, 1}, 0}), "over_limit");
  EXPECT_EQ(cause("second", {{1, 1, 1}, {32, 1, 1}, 166913}), "over_limit");
  EXPECT_EQ(cause("third", {{1, 1, 1}, {32, 1, 1}, 0}), "compile_error");
  compilation.notes.serialisations = {"(C7514)"};
  EXPECT_EQ(cause("second", {{1, 1, 1}, {256, 1, 1}, 0}), "serialised");

  RefusalCounts counts;
  EXPECT_EQ(counts.text(), "none");
  counts.add(RefusalCause::Spills);
  counts.add(RefusalCause::Spills);
  counts.add(RefusalCause::CompileError);
  EXPECT_EQ(counts.text(), "compile_error 1, spills 2");
}

TEST(CubinCache, FindsWhatWasStoredAndNothingElse) {
  const TemporaryFolder folder;
  const CubinCache cache(folder.path() / "cache", 1 << 20);
  const std::string key = CubinCache::key("text", "sm_80", {"-a", "-b"}, "13.0");
  EXPECT_FALSE(cache.find(key));
  cache.store(key, {"log\nof two lines", std::string("cubin\0with a zero", 17)});
  const std::optional<CubinCache::Entry> entry = cache.find(key);
  ASSERT_TRUE(entry);
  EXPECT_EQ(entry->log, "log\nof two lines");
  EXPECT_EQ(entry->cubin, std::string("cubin\0with a zero", 17));
  for (const std::string& other : {CubinCache::key("text ", "sm_80", {"-a", "-b"}, "13.0"),
                                   CubinCache::key("text", "sm_90", {"-a", "-b"}, "13.0"),
                                   CubinCache::key("text", "sm_80", {"-a-b"}, "13.0"),
                                   CubinCache::key("text", "sm_80", {"-a", "-b"}, "12.9")})
    EXPECT_FALSE(cache.find(other));
}

TEST(CubinCache, ADamagedEntryIsCompiledAgain) {
  const TemporaryFolder folder;
  const CubinCache cache(folder.path(), 1 << 20);
  const std::string key = CubinCache::key("text", "sm_80", {}, "13.0");
  cache.store(key, {"log", "cubin"});
  const std::filesystem::path file = std::filesystem::directory_iterator(folder.path())->path();
  std::filesystem::resize_file(file, std::filesystem::file_size(file) - 1);
  EXPECT_FALSE(cache.find(key));
  EXPECT_FALSE(std::filesystem::exists(file));
}

TEST(CubinCache, StaysBelowItsSizeAndForgetsWhatWasUsedLongestAgo) {
  const TemporaryFolder folder;
  const CubinCache cache(folder.path(), 5000);
  std::vector<std::string> keys;
  for (int i = 0; i < 4; ++i) {
    keys.push_back(CubinCache::key(std::to_string(i), "sm_80", {}, "13.0"));
    if (i == 3) cache.find(keys[0]);  // used again: the second is now the oldest
    cache.store(keys.back(), {"", std::string(1500, 'c')});
    std::this_thread::sleep_for(std::chrono::milliseconds(20));  // file systems' clocks tick
  }
  EXPECT_TRUE(cache.find(keys[0]));
  EXPECT_FALSE(cache.find(keys[1]));
  EXPECT_TRUE(cache.find(keys[3]));
}

TEST(CubinCache, ThreadsMayStoreAndFindAtOnce) {
  const TemporaryFolder folder;
  const CubinCache cache(folder.path(), 1 << 20);
  std::vector<std::thread> threads;
  for (int i = 0; i < 4; ++i) {
    threads.emplace_back([&] {
      for (int j = 0; j < 50; ++j) {
        const std::string key = CubinCache::key(std::to_string(j), "sm_80", {}, "13.0");
        cache.store(key, {"log", std::to_string(j)});
        const std::optional<CubinCache::Entry> entry = cache.find(key);
        EXPECT_TRUE(entry && entry->cubin == std::to_string(j));
      }
    });
  }
  for (std::thread& thread : threads) thread.join();
}

TEST(WithNvrtc, EachKernelCompilesForItsArchitecturesWithinLimits) {
  SKIP_WITHOUT_NVRTC();
  const KernelCompiler compiler(*Nvrtc::find());
  struct Named {
    Case test;
    std::vector<std::string> architectures;
  };
  for (const Named& named : std::vector<Named>{
           {sgemm_case(64, 64, 16), {"sm_75", "sm_80", "sm_86", "sm_89", "sm_90a", "sm_100a", "sm_120"}},
           {softmax_case(1, 128), {"sm_75", "sm_80", "sm_90a", "sm_120"}},
           {wmma_case(32, 32, 16), {"sm_75", "sm_80", "sm_90a", "sm_120"}},
           {hgemm_case(64, 64, 32), {"sm_80", "sm_86", "sm_90a", "sm_120"}},
           {wgmma_case(64, 128, 64), {"sm_90a"}},
           {tma_case(64, 128, 64), {"sm_90a"}}}) {
    for (const std::string& architecture : named.architectures) {
      const Compilation compilation =
          compiler.compile(kernel_text(named.test.file), named.test.file, architecture);
      const std::optional<Refusal> refusal =
          refuse(compilation, named.test.kernel, find_architecture(architecture), named.test.launch);
      EXPECT_FALSE(refusal) << named.test.file << " " << architecture << ": " << refusal_name(refusal->cause)
                            << ": " << refusal->text;
      EXPECT_EQ(compilation.cubin.substr(0, 4), "\177ELF");
    }
  }
}

TEST(WithNvrtc, TheWholeVocabularyCompiles) {
  SKIP_WITHOUT_NVRTC();
  const KernelCompiler compiler(*Nvrtc::find());
  const std::string text = R"(#include "tunesmith_device.cuh"
extern "C" __global__ void __launch_bounds__(128) test(half_t* h, signed char* b, float* f, int* n) {
  __shared__ __align__(128) half_t s[1024];
  unsigned a2[2], a4[4], b2[2], a8[8], r1[1];
  float c[4] = {}, c8[8];
  int d[4] = {}, d8[8];
  cp_async16(s, h); cp_async8(s + 8, h); cp_async4(s + 16, h); cp_async16_zfill(s + 24, h, 8);
  cp_async_commit(); cp_async_wait<0>(); __syncthreads();
  ldmatrix_x1(r1, s); ldmatrix_x2(a2, s); ldmatrix_x4(a4, s);
  h[0] = r1[0]; ldmatrix_x1_trans(r1, s); ldmatrix_x2_trans(b2, s);
  mma_m16n8k16(c, a4, b2[0], b2[1]); mma_m16n8k16_bf16(c, a4, b2[0], b2[1]); mma_m16n8k8_tf32(c, a4, b2[0], b2[1]);
  mma_m16n8k8(c, a2, r1[0]); mma_m16n8k32_s8(d, a4, b2[0], b2[1]); mma_m16n8k16_s8(d, a2, r1[0]);
  for (int i = 0; i < 4; i++) { f[threadIdx.x + i] = c[i]; n[threadIdx.x + i] = d[i]; }
  wmma_load_c<0>(c8, f, 16); wmma_load_a<1>(a8, h, 16); wmma_mma<1, 1>(c8, a8, a8); wmma_store<1>(f, c8, 16);
  unsigned w4[4]; wmma_load_b_bf16<1>(w4, h, 16); wmma_mma_bf16<0, 1>(c8, w4, w4); wmma_store<0>(f, c8, 16);
  wmma_load_c<1>(d8, n, 16); wmma_load_b_s8<0>(b2, b, 16); wmma_mma_s8<1, 0>(d8, b2, b2); wmma_store<0>(n, d8, 16);
  f[0] = f16_to_f32(h[1]) + bf16_to_f32(h[2]); h[3] = f32_to_f16(f[1]); h[4] = f32_to_bf16(f[2]);
})";
  for (const char* architecture : {"sm_80", "sm_90a", "sm_120"}) {
    const Compilation compilation = compiler.compile(text, "vocabulary.cu", architecture);
    EXPECT_TRUE(compilation.succeeded) << architecture << ": " << compilation.log;
  }
  // The emulation has the same functions with the same parameters.
  const EmulatedKernel emulated(text, "test", "vocabulary.cu", {});
  EXPECT_TRUE(emulated.compiled()) << emulated.log();
}

TEST(WithNvrtc, WhatIsRefusedAndWhy) {
  SKIP_WITHOUT_NVRTC();
  const KernelCompiler compiler(*Nvrtc::find());
  const Architecture sm_80 = find_architecture("sm_80"), sm_90a = find_architecture("sm_90a");
  const Launch launch{{1, 1, 1}, {256, 1, 1}, 0};
  const auto refusal = [&](const std::string& text, const Architecture& architecture,
                           const std::string& kernel = "test") {
    const std::optional<Refusal> found =
        refuse(compiler.compile(text, "test.cu", architecture.name), kernel, architecture, launch);
    return found ? std::string(refusal_name(found->cause)) + ": " + found->text : "";
  };
  const auto begins = [](const std::string& text, const std::string& with) {
    return text.rfind(with, 0) == 0;
  };
  EXPECT_TRUE(begins(refusal("extern \"C\" __global__ void test(int* p) { *p = x; }", sm_80),
                     "compile_error: test.cu(1): error"));
  EXPECT_TRUE(begins(refusal("extern \"C\" __global__ void test(int* p) { *p = 1; }", sm_80, "other"),
                     "compile_error"));
  EXPECT_TRUE(begins(refusal("extern \"C\" __global__ void test(int* p) { __shared__ int s[16384]; "
                             "s[threadIdx.x] = *p; __syncthreads(); *p = s[*p]; }",
                             sm_80),
                     "over_limit"));
  // An array that is indexed at run time is memory.
  EXPECT_TRUE(begins(refusal("extern \"C\" __global__ void __launch_bounds__(256) test(int* p) { int a[64]; "
                             "for (int i = 0; i < 64; i++) a[i] = p[i]; "
                             "for (int i = 0; i < 64; i++) p[i] = a[p[i + 64] & 63]; }",
                             sm_80),
                     "spills"));
  // Accumulators must not be read between the products.
  const std::string wgmma = kernel_text("wgmma.cu");
  EXPECT_TRUE(begins(
      refusal(replaced(wgmma, "    wgmma_commit();\n", "    acc[s & 63] *= 2.f;\n    wgmma_commit();\n"),
              sm_90a, "hgemm"),
      "spills"));
  EXPECT_TRUE(
      begins(refusal(replaced(wgmma, "    wgmma_commit();\n", "    acc[3] *= 2.f;\n    wgmma_commit();\n"),
                     sm_90a, "hgemm"),
             "serialised"));
}

TEST(WithNvrtc, TheCacheAnswersWhatWasCompiled) {
  SKIP_WITHOUT_NVRTC();
  const TemporaryFolder folder;
  const CubinCache cache(folder.path(), 1 << 26);
  const KernelCompiler compiler(*Nvrtc::find(), &cache);
  const std::string text = kernel_text("sgemm.cu");
  const Compilation first = compiler.compile(text, "sgemm.cu", "sm_80"),
                    second = compiler.compile(text, "sgemm.cu", "sm_80"),
                    other = compiler.compile(text, "sgemm.cu", "sm_86"),
                    slower = compiler.compile(text, "sgemm.cu", "sm_80", {"--ptxas-options=-O1"});
  EXPECT_FALSE(first.from_cache);
  EXPECT_TRUE(second.from_cache);
  EXPECT_FALSE(other.from_cache);
  EXPECT_FALSE(slower.from_cache);
  EXPECT_EQ(first.cubin, second.cubin);
  EXPECT_EQ(first.kernel("sgemm")->registers, second.kernel("sgemm")->registers);
  EXPECT_GT(first.kernel("sgemm")->registers, 16u);
}

}  // namespace
}  // namespace tunesmith::testing
