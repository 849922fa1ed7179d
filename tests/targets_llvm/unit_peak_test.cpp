// The peak of a unit: a loop of only its instruction, on independent sums.
#include "peaks/unit_peak.h"

#include <cmath>

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "lowered_program.h"
#include "packs/pack_file.h"
#include "tunesmith/measuring/peak.h"
#include "tunesmith/target/extension_file.h"
#include "tunesmith/workload/library.h"

namespace tunesmith {
namespace {

constexpr const char* kUnit = R"yaml(extension: peaky
target: llvm
peak: {peaky_16: 6}
intrinsics:
  - name: peaky_16
    cycles: 1
    semantics:
      inputs: {A: {shape: [1], dtype: f32}, B: {shape: [2, 8], dtype: f32}}
      compute: "C[i<2, j<8] = sum(k<1) A[k] * B[i, j]"
      outputs: [C]
    operands: {B: {strides: [3n, 1], pass: address}}
    implementation:
      arguments: [C, A, B]
      fragment: |
        declare <16 x float> @llvm.fma.v16f32(<16 x float>, <16 x float>, <16 x float>)
        %second = getelementptr float, ptr %B, i64 %B_stride
        %b0 = load <8 x float>, ptr %B, align 4
        %b1 = load <8 x float>, ptr %second, align 4
        %b = shufflevector <8 x float> %b0, <8 x float> %b1, <16 x i32> <i32 0, i32 1, i32 2, i32 3, i32 4, i32 5, i32 6, i32 7, i32 8, i32 9, i32 10, i32 11, i32 12, i32 13, i32 14, i32 15>
        %a0 = insertelement <16 x float> poison, float %A, i32 0
        %a = shufflevector <16 x float> %a0, <16 x float> poison, <16 x i32> zeroinitializer
        %r = call <16 x float> @llvm.fma.v16f32(<16 x float> %a, <16 x float> %b, <16 x float> %C)
        ret <16 x float> %r
)yaml";

size_t times(const std::string& text, const std::string& what) {
  size_t count = 0;
  for (size_t at = text.find(what); at != std::string::npos; at = text.find(what, at + 1)) ++count;
  return count;
}

TEST(UnitPeak, KeepsIndependentSumsAsValues) {
  const auto extension = ExtensionFile::parse(kUnit, "peaky.yaml");
  const auto target = testing::make_target();
  const UnitPeak peak = unit_peak(extension->intrinsics()[0], 2);
  const std::string ir = target->ir(peak.program, "kernel");
  EXPECT_EQ(times(ir, "call <16 x float> @llvm.fma.v16f32"), 6U) << ir;
  EXPECT_EQ(times(ir, "phi <16 x float>"), 6U);
  EXPECT_EQ(times(ir, "alloca [96 x float]"), 0U) << "the sums lie in memory";
  const auto compiled = target->compile(peak.program, "kernel");
  ASSERT_TRUE(compiled) << compiled.error();
  // Each call has 32 operations; there are two threads.
  const double rounds = peak.operations / (32.0 * 6 * 2);
  EXPECT_EQ(rounds, std::floor(rounds));
  EXPECT_GE(rounds, 100.0);
  const double rate = measure_peak(*target, {*compiled, peak.operations, "peaky_16"}, 2);
  EXPECT_GT(rate, 1e8);
  EXPECT_LT(rate, 1e13);
}

/// A peak that correct programs can reach: the sums suffice to hide a call's latency, and stay in registers.
TEST(UnitPeak, OfTheBuiltInUnitsIsTheirs) {
  struct Unit {
    const char* extension;
    const char* instruction;
    const char* workload;
    const char* other;  // a workload that the unit cannot compute
  };
  const Unit units[] = {
      {"vnni", "vpdpbusd", "gmm:n=8,m=16,k=8,dtype=u8,b_dtype=i8", "gmm:n=8,m=16,k=8,dtype=i8"},
      {"bf16_dot", "vdpbf16ps", "gmm:n=8,m=16,k=8,dtype=bf16", "gmm:n=8,m=16,k=8,dtype=f16"}};
  const auto target = testing::make_target();
  for (const Unit& unit : units) {
    SCOPED_TRACE(unit.extension);
    const auto extension = ExtensionFile::load(pack_file(unit.extension));
    ASSERT_EQ(extension->intrinsics().size(), 1U);
    const TensorIntrinsicPtr& intrinsic = extension->intrinsics()[0];
    EXPECT_TRUE(is_peak_of(*intrinsic, WorkloadLibrary().load(unit.workload).program));
    EXPECT_FALSE(is_peak_of(*intrinsic, WorkloadLibrary().load(unit.other).program));
    if (!extension->probe(*target).here()) continue;
    const std::string assembly = target->assembly(unit_peak(intrinsic, 1).program, "kernel");
    const size_t sums = times(assembly, std::string(unit.instruction) + "\t");
    EXPECT_EQ(sums, static_cast<size_t>(intrinsic->peak_sums)) << assembly;
    EXPECT_EQ(times(assembly, "Spill"), 0U) << assembly;
  }
}

TEST(UnitPeak, IsNoRateOfAUnitThatCannotBeSetUp) {
  const std::string unit = kUnit;
  for (const char* when : {"process", "thread"}) {
    const auto extension =
        ExtensionFile::parse(fmt::format("{}setup: {{{}: ret i32 5}}\n{}", unit.substr(0, unit.find("peak:")),
                                         when, unit.substr(unit.find("peak:"))),
                             "peaky.yaml");
    const auto target = testing::make_target();
    const UnitPeak peak = unit_peak(extension->intrinsics()[0], 2);
    const auto compiled = target->compile(peak.program, "kernel");
    ASSERT_TRUE(compiled) << compiled.error();
    EXPECT_THAT([&] { measure_peak(*target, {*compiled, peak.operations, "peaky_16"}, 2); },
                ::testing::ThrowsMessage<EnvironmentError>(::testing::HasSubstr(
                    fmt::format("extension peaky: the set-up of the {} failed: it returned 5", when))));
  }
}

/// The unit runs in another process, which it may end.
TEST(UnitPeak, IsNoRateOfAUnitThatEndsItsProcess) {
  const std::pair<const char*, const char*> ends[] = {
      {"        call void asm sideeffect \"ud2\", \"\"()\n", "Illegal instruction"},
      {"        call void asm sideeffect \"movl $$0, %edi\\0Amovl $$231, %eax\\0Asyscall\", \"\"()\n",
       "exit code 0"}};
  for (const auto& [code, how] : ends) {
    std::string unit = kUnit;
    unit.insert(unit.find("        ret <16 x float>"), code);
    const auto extension = ExtensionFile::parse(unit, "peaky.yaml");
    const auto target = testing::make_target();
    const UnitPeak peak = unit_peak(extension->intrinsics()[0], 1);
    const auto compiled = target->compile(peak.program, "kernel");
    ASSERT_TRUE(compiled) << compiled.error();
    EXPECT_THAT([&] { measure_peak(*target, {*compiled, peak.operations, "peaky_16"}, 1); },
                ::testing::ThrowsMessage<EnvironmentError>(::testing::HasSubstr(fmt::format(
                    "the peak of peaky_16 cannot be measured: it ended its process by: {}", how))));
  }
}

TEST(UnitPeak, IsOfProgramsWithTheTypesOfItsOperands) {
  const auto extension = ExtensionFile::parse(kUnit, "peaky.yaml");
  const TensorIntrinsic& intrinsic = *extension->intrinsics()[0];
  Program program;
  program.inputs = {make_buffer("A", kF32, {4})};
  EXPECT_TRUE(is_peak_of(intrinsic, program));
  program.inputs = {make_buffer("A", kF64, {4})};
  EXPECT_FALSE(is_peak_of(intrinsic, program));
  const auto plain = ExtensionFile::parse(
      std::string(kUnit).replace(std::string(kUnit).find("peak: {"), 19, ""), "peaky.yaml");
  program.inputs = {make_buffer("A", kF32, {4})};
  EXPECT_FALSE(is_peak_of(*plain->intrinsics()[0], program));
}

}  // namespace
}  // namespace tunesmith
