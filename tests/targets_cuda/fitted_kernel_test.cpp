// Kernels that spill are emitted again in other forms.
#include "nvrtc/fitted_kernel.h"

#include <fmt/format.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "run_candidate.h"
#include "tunesmith/ir/visit.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith::cuda {
namespace {

using namespace test;
using ::testing::HasSubstr;
using ::testing::Not;

/// Each of 32 threads computes a row of 8 elements in registers, over an unrolled loop of 16 steps.
Schedule rows() {
  Schedule s(program_of("X: {shape: [32, 8, 16], dtype: f32}, Y: {shape: [16], dtype: f32}",
                        "O[i<32, j<8] = sum(k<16) X[i, j, k] * Y[k]"));
  const BlockRV block = s.get_block("O");
  const std::vector<LoopRV> loops = s.get_loops(block);
  s.bind(loops[0], "thread.x");
  s.reorder({loops[2], loops[1]});
  s.unroll(loops[2]);
  const BlockRV writer = s.cache_write(block, 0, "local");
  s.reverse_compute_at(writer, loops[0]);
  return s;
}

TEST(FittedKernel, FormsDifferInWhatTheyLeaveToTheCompiler) {
  const LoweredProgram lowered = lower_for(target(), rows().program());
  const auto text_in = [&](TextForm form) {
    return target().texts_of(lowered, "k", std::vector{form}).front().text;
  };
  const std::string usual = text_in(TextForm::Usual);
  EXPECT_THAT(usual, HasSubstr("__launch_bounds__(32) "));
  EXPECT_THAT(usual, HasSubstr("#pragma unroll\n  for (int k"));
  EXPECT_EQ(target().texts_of(lowered, "k").front().text, usual);
  const std::string one_block = text_in(TextForm::OneBlock);
  EXPECT_THAT(one_block, HasSubstr("__launch_bounds__(32, 1) "));
  EXPECT_THAT(one_block, HasSubstr("#pragma unroll\n  for (int k"));
  const std::string rolled = text_in(TextForm::Rolled);
  EXPECT_THAT(rolled, HasSubstr("__launch_bounds__(32, 1) "));
  EXPECT_THAT(rolled, HasSubstr("#pragma unroll 1\n  for (int k"));
  // Buffers in registers need these to be unrolled.
  EXPECT_THAT(rolled, HasSubstr("#pragma unroll\n    for (int j"));
  EXPECT_THAT(rolled, Not(HasSubstr("#pragma unroll 1\n    for (int j")));
}

/// A kernel with this many live numbers, and one more for each form that has not been requested.
class Numbers {
 public:
  explicit Numbers(std::vector<int> of_forms) : of_forms_(std::move(of_forms)) {}

  FittedKernel fit() {
    return fit_kernel(KernelCompiler(*Nvrtc::find()), find_architecture("sm_80"), [&](TextForm form) {
      asked.push_back(form);
      KernelText kernel;
      kernel.name = "k";
      kernel.launch.block = {32, 1, 1};
      const int numbers = of_forms_.at(static_cast<size_t>(form));
      kernel.text = fmt::format(
          "extern \"C\" __global__ void __launch_bounds__(32) k(float* a) {{\n  float x[{0}];\n#pragma "
          "unroll\n"
          "  for (int i = 0; i < {0}; ++i) x[i] = a[i * 32];\n  __syncthreads();\n#pragma unroll\n"
          "  for (int i = 0; i < {0}; ++i) a[i * 32 + 1] = x[{0} - 1 - i];\n}}\n",
          numbers);
      return kernel;
    });
  }

  std::vector<TextForm> asked;

 private:
  std::vector<int> of_forms_;
};

TEST(FittedKernel, IsTheFirstFormThatDoesNotSpill) {
  if (Nvrtc::find() == nullptr) GTEST_SKIP() << "no NVRTC: " << Nvrtc::why_absent();
  const auto forms = [](TextForm last) {
    std::vector<TextForm> all;
    for (const TextForm form : {TextForm::Usual, TextForm::OneBlock, TextForm::Rolled}) {
      all.push_back(form);
      if (form == last) break;
    }
    return all;
  };
  constexpr int kFew = 16, kMany = 300;
  for (const TextForm last : {TextForm::Usual, TextForm::OneBlock, TextForm::Rolled}) {
    std::vector<int> numbers(3, kMany);
    numbers.at(static_cast<size_t>(last)) = kFew;
    Numbers kernel(numbers);
    const FittedKernel fitted = kernel.fit();
    EXPECT_FALSE(fitted.refusal);
    EXPECT_EQ(fitted.form, last);
    EXPECT_THAT(fitted.text.text, HasSubstr("float x[16]"));
    EXPECT_FALSE(fitted.cubin.empty());
    EXPECT_EQ(kernel.asked, forms(last));
  }
  Numbers none({kMany, kMany + 1, kMany + 2});
  const FittedKernel refused = none.fit();
  ASSERT_TRUE(refused.refusal);
  EXPECT_EQ(refused.refusal->cause, RefusalCause::Spills);
  EXPECT_THAT(refused.text.text, HasSubstr("float x[300]"));
}

TEST(FittedKernel, WhatIsRefusedForAnotherCauseIsNotWrittenAgain) {
  if (Nvrtc::find() == nullptr) GTEST_SKIP() << "no NVRTC: " << Nvrtc::why_absent();
  int times = 0;
  const FittedKernel fitted =
      fit_kernel(KernelCompiler(*Nvrtc::find()), find_architecture("sm_80"), [&](TextForm) {
        ++times;
        KernelText kernel;
        kernel.name = "k";
        kernel.text = "this is no kernel";
        return kernel;
      });
  ASSERT_TRUE(fitted.refusal);
  EXPECT_EQ(fitted.refusal->cause, RefusalCause::CompileError);
  EXPECT_EQ(times, 1);
}

}  // namespace
}  // namespace tunesmith::cuda
