// Correct kernels are correct in each order of threads, and the checker reports nothing.
#include <gtest/gtest.h>

#include "emulation_run.h"

namespace tunesmith::testing {
namespace {

struct Named {
  const char* name;
  Case test;
};

std::vector<Named> right_kernels() {
  return {{"sgemm", sgemm_case(128, 128, 96)},
          {"sgemm of odd shapes", sgemm_case(67, 61, 45)},
          {"sgemm smaller than a tile", sgemm_case(1, 3, 2)},
          {"hgemm", hgemm_case(128, 128, 224)},
          {"hgemm, fewer steps than stages", hgemm_case(64, 64, 32)},
          {"wmma", wmma_case(64, 64, 64)},
          {"wgmma", wgmma_case(128, 128, 448)},
          {"wgmma, fewer steps than stages", wgmma_case(64, 128, 64)},
          {"tma", tma_case(128, 256, 448)},
          {"softmax", softmax_case(3, 200)}};
}

TEST(Kernels, AreRightAndCleanWhenEachAccessIsChecked) {
  for (const Named& named : right_kernels())
    EXPECT_EQ(what_is_wrong(named.test, kernel_text(named.test.file)), "") << named.name;
}

TEST(Kernels, AreRightWhenOnlyValuesAreLookedAt) {
  for (const Named& named : right_kernels())
    EXPECT_EQ(what_is_wrong(named.test, kernel_text(named.test.file), false), "") << named.name;
}

TEST(Kernels, GiveTheSameBitsInEachOrder) {
  const Case test = hgemm_case(64, 64, 128);
  cuda::EmulationOptions options;
  options.dynamic_shared_bytes = test.launch.dynamic_shared_bytes;
  cuda::EmulatedKernel kernel(kernel_text(test.file), test.kernel, test.file, options);
  ASSERT_TRUE(kernel.compiled()) << kernel.log();
  std::vector<std::vector<unsigned char>> results;
  for (const auto order :
       {cuda::ThreadOrder::Forward, cuda::ThreadOrder::Backward, cuda::ThreadOrder::Random}) {
    std::vector<cuda::EmulatedArgument> arguments = test.arguments;
    EXPECT_TRUE(kernel.run(test.launch, arguments, {.order = order}).clean());
    results.push_back(arguments[test.result].bytes);
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(Kernels, TheReportCountsWhatWasChecked) {
  const Case test = sgemm_case(64, 64, 32);
  cuda::EmulationOptions options;
  options.dynamic_shared_bytes = test.launch.dynamic_shared_bytes;
  cuda::EmulatedKernel kernel(kernel_text(test.file), test.kernel, test.file, options);
  ASSERT_TRUE(kernel.compiled()) << kernel.log();
  const Outcome outcome = run(test, kernel, cuda::ThreadOrder::Forward);
  // Two stages of 16 x 64 numbers are written for each operand. In each of two steps, 256 threads read 2 x 16
  // vectors, which a compiler may split into numbers.
  const uint64_t written = 2u * 2 * 16 * 64, read = 2u * 256 * 2 * 16;
  EXPECT_GE(outcome.report.counters.at("shared_accesses"), written + read);
  EXPECT_LE(outcome.report.counters.at("shared_accesses"), written + 4 * read);
}

}  // namespace
}  // namespace tunesmith::testing
