// An error while a candidate runs is its fault, or an EnvironmentError: no other exception leaves the target.
#include <cstdlib>
#include <string>
#include <tuple>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "candidates/candidate_object.h"
#include "emulation/emulated_kernel.h"
#include "run_candidate.h"

namespace tunesmith::cuda {
namespace {

using ::testing::HasSubstr;

/// The report of a program that prints only `lines`, like a child that is killed.
EmulationReport report_of(const std::string& lines) {
  EmulatedKernel kernel("#!/bin/sh\nprintf '" + lines + "'\n", EmulationOptions{});
  std::vector<EmulatedArgument> none;
  return kernel.run({}, none, {.time_limit_seconds = 10});
}

TEST(CandidateFaults, ADamagedReportIsAFailure) {
  EXPECT_TRUE(report_of("done\\n").clean());
  for (const char* damaged :
       {"", "count\\trace\\t", "count\\trace\\tmany\\ndone\\n", "count\\trace\\t99999999999999999999999\\n",
        "counter\\tswitches\\t-\\ndone\\n", "granule\\tshared\\t\\n", "granule\\tshared\\t0\\n",
        "granule\\tglobal\\t3\\n", "granule\\tglobal\\t16\\n", "finding\\n", "\\t\\t\\t\\n", "\\377\\376\\n"})
    EXPECT_FALSE(report_of(damaged).failure.empty()) << damaged;
}

/// The fault of a candidate with one launch of this program on a buffer of `bytes`.
std::optional<KernelFault> fault_of(const std::string& program, int64_t bytes) {
  CandidateObject object;
  object.outputs = {0};
  object.launches.push_back({"k", {}, {{"A", false, 0, bytes, "float"}}, program});
  const std::unique_ptr<LoadedKernel> loaded = test::target().load({object.bytes(), "k", 0, 0.0});
  std::vector<float> values(64);
  void* pointer = values.data();
  EXPECT_NO_THROW(loaded->entry()(&pointer, nullptr, nullptr, nullptr));
  return loaded->take_fault();
}

TEST(CandidateFaults, NoExceptionLeavesAnEntry) {
  // The program cannot be started, its output is not a report, and no vector has this many bytes.
  for (const auto& [program, bytes] : {std::pair<std::string, int64_t>{"no program", 64},
                                       {"#!/bin/sh\nprintf 'count\\trace\\t'\n", 64},
                                       {"#!/bin/sh\nprintf 'done\\n'\n", -1}}) {
    const std::optional<KernelFault> fault = fault_of(program, bytes);
    ASSERT_TRUE(fault.has_value()) << program;
    EXPECT_EQ(fault->kind, KernelFault::Kind::Crash) << fault->message;
    EXPECT_FALSE(fault->message.empty());
  }
}

TEST(CandidateFaults, NoFolderForTemporaryFilesIsTheEnvironments) {
  const char* const before = std::getenv("TMPDIR");
  const std::string kept = before == nullptr ? "" : before;
  setenv("TMPDIR", "/no/such/folder", 1);
  EXPECT_THAT([] { EmulatedKernel("text", EmulationOptions{}); },
              ::testing::ThrowsMessage<EnvironmentError>(HasSubstr("TMPDIR")));
  before == nullptr ? unsetenv("TMPDIR") : setenv("TMPDIR", kept.c_str(), 1);
}

/// The fault of a kernel with two arguments of 64 bytes that executes `statement` and may write `outputs`.
std::optional<KernelFault> fault_of_executing(const std::string& statement,
                                              const std::vector<int64_t>& outputs) {
  const EmulatedKernel kernel("extern \"C\" __global__ void k(float* A, float* O) { " + statement + " }", "k",
                              "k.cu", {});
  EXPECT_TRUE(kernel.compiled()) << kernel.log();
  CandidateObject object;
  object.outputs = outputs;
  object.launches.push_back(
      {"k", {}, {{"A", false, 0, 64, "float"}, {"O", false, 1, 64, "float"}}, kernel.program()});
  const std::unique_ptr<LoadedKernel> loaded = test::target().load({object.bytes(), "k", 0, 0.0});
  std::vector<float> a(16), o(16);
  std::vector<void*> pointers{a.data(), o.data()};
  loaded->entry()(pointers.data(), nullptr, nullptr, nullptr);
  return loaded->take_fault();
}

// This does not depend on the types of its parameters.
TEST(CandidateFaults, ACandidateThatStoresToAnInputIsRefused) {
  const std::optional<KernelFault> fault = fault_of_executing("A[0] = 1.0f;", {1});
  ASSERT_TRUE(fault.has_value());
  EXPECT_EQ(fault->kind, KernelFault::Kind::OutOfBounds);
  EXPECT_THAT(fault->message, HasSubstr("stores to the input A"));
  EXPECT_FALSE(fault_of_executing("A[0] = 1.0f;", {0, 1}).has_value());
}

/// The tuner records them as out_of_bounds or wrong_result.
TEST(CandidateFaults, MistakesInMemoryAreNoWrongResults) {
  using Kind = KernelFault::Kind;
  const std::tuple<const char*, const char*, Kind> cases[] = {
      {"O[16] = 1.0f;", "out_of_bounds", Kind::OutOfBounds},
      {"O[0] = A[-1];", "out_of_bounds", Kind::OutOfBounds},
      {"*(float2*)(O + 1) = make_float2(1.0f, 2.0f);", "misaligned", Kind::OutOfBounds},
      {"O[0] = A[100000000];", "fault", Kind::OutOfBounds},
      {"O[0] = float(7 / int(blockIdx.x));", "bad_operand", Kind::Mistake},
  };
  for (const auto& [statement, says, kind] : cases) {
    const std::optional<KernelFault> fault = fault_of_executing(statement, {1});
    ASSERT_TRUE(fault.has_value()) << statement;
    EXPECT_EQ(fault->kind, kind) << fault->message;
    EXPECT_THAT(fault->message, ::testing::StartsWith(says));
  }
}

}  // namespace
}  // namespace tunesmith::cuda
