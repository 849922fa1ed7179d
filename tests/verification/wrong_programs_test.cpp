// Wrong programs that were accepted when the tolerance was eight times the coarsest rounding times the root
// of all terms, and the workspace was not poisoned.
#include <memory>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include <tunesmith/ir/visit.h>
#include <tunesmith/measuring/worker_runner.h>
#include <tunesmith/plugin/registry.h>
#include <tunesmith/verification/mutate.h>
#include <tunesmith/workload/library.h>

#include "extended.h"

namespace tunesmith {
namespace {

class WrongPrograms : public testing::Test {
 protected:
  WrongPrograms()
      : registry_({.command_line = {{TARGET_PLUGINS}}, .defaults = false}),
        target_(registry_.create<Target>(
            "llvm", Options::defaults(registry_.option_specs(PluginKind::Target, "llvm"), "llvm"))) {
    options_.min_repeats = options_.max_repeats = 1;
    options_.min_total_seconds = 0.0;
    options_.time_out_seconds = 120.0;
  }

  /// The cause of the failure; "" if the program is accepted.
  std::string verify(const std::string& text, const Program& program) {
    const Workload workload = WorkloadLibrary().load(text);
    const auto kernel = target_->compile(lower(program, target_->lower_options()), "wrong");
    EXPECT_TRUE(kernel.has_value());
    const std::unique_ptr<Runner> runner =
        make_worker_runner(workload, *target_, {"llvm", {}, {TARGET_PLUGINS}}, options_);
    const MeasureRequest request{&*kernel, 0.0};
    const MeasureResult result = runner->run({&request, 1}).front();
    return result.failure ? std::string(failure_cause_name(result.failure->cause)) : "";
  }

  static Program program_of(const std::string& text) {
    return std::move(WorkloadLibrary().load(text).program);
  }

  PluginRegistry registry_;
  std::shared_ptr<Target> target_;
  MeasureOptions options_;
};

// An element of a layer norm computed from its neighbour was accepted, because both were zero in data with 6
// nonzero terms of 1,024; and one of a softmax, because random numbers differ by less than rounding.
TEST_F(WrongPrograms, ANeighboursElementIsWrong) {
  for (const std::string& text : test::usual_or_extended<std::vector<std::string>>(
           {"layer_norm:m=128,n=1024,dtype=bf16"},
           {"layer_norm:m=1024,n=1024,dtype=bf16", "layer_norm:m=128,n=1024,dtype=bf16",
            "softmax:m=512,n=512,dtype=bf16"})) {
    EXPECT_EQ(verify(text, program_of(text)), "") << text;
    const std::optional<Program> mutant = mutate(program_of(text), Mutation::OneElementWrong, 0);
    ASSERT_TRUE(mutant.has_value());
    EXPECT_EQ(verify(text, *mutant), "wrong_result") << text;
  }
}

class ZerosOf : public WrongPrograms, public testing::WithParamInterface<const char*> {};

TEST_P(ZerosOf, AreWrong) {
  const std::optional<Program> zeros = mutate(program_of(GetParam()), Mutation::Zeros, 0);
  ASSERT_TRUE(zeros.has_value());
  EXPECT_EQ(verify(GetParam(), *zeros), "wrong_result");
}

INSTANTIATE_TEST_SUITE_P(Accepted, ZerosOf,
                         testing::Values("conv2d:h=14,w=14,ci=256,co=256,kernel=3,dtype=bf16",
                                         "conv2d:h=14,w=14,ci=256,co=256,kernel=3,dtype=f16",
                                         "softmax:m=256,n=256,dtype=bf16",
                                         "layer_norm:m=128,n=768,dtype=bf16",
                                         "conv1d:l=256,ci=64,co=128,kernel=3,stride=2,padding=1,dtype=bf16",
                                         "reduce_sum_1d:n=16777216"));

/// The block of the first sum; a maximum does not depend on all its terms.
Block* first_reduction(const Program& program) {
  for (Block* block : program.blocks()) {
    const bool adds = find_first<Store>(*block, [](const Store& store) {
                        return store.value.is(ExprKind::Add);
                      }) != nullptr;
    if (block->has_reduction() && adds) return block;
  }
  return nullptr;
}

/// The program with `extent` iterations of the innermost loop around its first sum.
Program shortened(Program program, int64_t extent) {
  loops_above(*first_reduction(program)).back()->extent = int_imm(extent);
  return program;
}

TEST_F(WrongPrograms, ASumWithoutItsLastFourFifths) {
  const std::string text = "reduce_sum_1d:n=1048576";
  EXPECT_EQ(verify(text, shortened(program_of(text), 1048576 / 5)), "wrong_result");
  EXPECT_EQ(verify(text, shortened(program_of(text), 1048575)), "wrong_result") << "one term of a million";
  EXPECT_EQ(verify(text, program_of(text)), "");
}

TEST_F(WrongPrograms, ReluInPlaceOfGelu) {
  const std::string text = "dense_bias_gelu:n=128,k=3072,m=768";
  const std::optional<Program> relu = mutate(program_of(text), Mutation::FunctionReplaced, 0);
  ASSERT_TRUE(relu.has_value());
  EXPECT_EQ(verify(text, *relu), "wrong_result");
}

// One draw of the data does not see every term of these sums, so correct programs were refused, too.
class LongSumsOf16Bits : public WrongPrograms, public testing::WithParamInterface<const char*> {};

TEST_P(LongSumsOf16Bits, AreVerifiedInSeveralDraws) {
  EXPECT_EQ(verify(GetParam(), program_of(GetParam())), "");
  const Program program = program_of(GetParam());
  const auto terms = loops_above(*first_reduction(program)).back()->const_extent();
  EXPECT_EQ(verify(GetParam(), shortened(program_of(GetParam()), terms - 1)), "wrong_result");
}

INSTANTIATE_TEST_SUITE_P(Refused, LongSumsOf16Bits,
                         testing::Values("reduce_sum_1d:n=65536,dtype=bf16",
                                         "reduce_sum_1d:n=65536,dtype=f16", "norm:m=256,n=256,dtype=f16",
                                         "softmax:m=4,n=1024,dtype=bf16", "layer_norm:m=4,n=768,dtype=f16"));

TEST_F(WrongPrograms, SixteenTermsMissingOfThreeThousand) {
  const std::string text = "dense_bias_gelu:n=128,k=3072,m=768";
  EXPECT_EQ(verify(text, shortened(program_of(text), 3072 - 16)), "wrong_result");
}

// The workload decides whether factors are rounded.
TEST_F(WrongPrograms, FactorsThatAreNotRoundedAsTheWorkloadSays) {
  const std::string shape = "n=24,m=16,k=40";
  EXPECT_EQ(verify("gmm_tf32:" + shape, program_of("gmm_tf32:" + shape)), "");
  EXPECT_EQ(verify("gmm_tf32:" + shape, program_of("gmm:" + shape)), "wrong_result");
  EXPECT_EQ(verify("gmm:" + shape, program_of("gmm_tf32:" + shape)), "wrong_result");
}

TEST_F(WrongPrograms, AConvolutionWithoutItsFillOfPadding) {
  for (const char* text : {"conv2d:h=14,w=14,ci=8,co=8", "max_pool2d:h=12,w=12,c=8",
                           "conv2d:h=14,w=14,ci=8,co=8,dtype=u8,w_dtype=i8"}) {
    const std::optional<Program> unfilled = mutate(program_of(text), Mutation::PaddingNotFilled, 0);
    ASSERT_TRUE(unfilled.has_value());
    EXPECT_EQ(verify(text, *unfilled), "wrong_result") << text;
    EXPECT_EQ(verify(text, program_of(text)), "") << text;
  }
}

// In scaled rows, most terms add nothing to the sum. While bounds ignored these terms, all were refused.
TEST_F(WrongPrograms, ALargeSoftmaxIsRight) {
  for (const char* text : {"softmax:m=1024,n=1024", "softmax:m=16,n=1024", "softmax:m=16,n=1024,dtype=f16",
                           "softmax:m=16,n=1024,dtype=bf16"})
    EXPECT_EQ(verify(text, program_of(text)), "") << text;
}

// In bf16, 256 and 272 ones have the same root, and a sum stops at 256 where the type stops counting: both
// mistakes were accepted.
TEST_F(WrongPrograms, OnesThatAreCountedTwiceInAFullSum) {
  const std::string text = "norm:m=16,n=16,dtype=bf16";
  EXPECT_EQ(verify(text, program_of(text)), "");
  const std::optional<Program> twice = mutate(program_of(text), Mutation::TermTwice, 0);
  ASSERT_TRUE(twice.has_value());
  EXPECT_EQ(verify(text, *twice), "wrong_result");
  const std::optional<Program> dropped = mutate(program_of(text), Mutation::TermDropped, 0);
  ASSERT_TRUE(dropped.has_value());
  EXPECT_EQ(verify(text, *dropped), "wrong_result");
}

/// Mistakes that need values near the ends of the types' ranges. All of these were accepted.
struct AtTheEnds {
  const char* workload;
  Mutation mutation;
  uint64_t site;
};

class WrongAtTheEnds : public WrongPrograms, public testing::WithParamInterface<AtTheEnds> {};

TEST_P(WrongAtTheEnds, IsRefused) {
  const auto& [text, mutation, site] = GetParam();
  EXPECT_EQ(verify(text, program_of(text)), "") << text;
  const std::optional<Program> mutant = mutate(program_of(text), mutation, site);
  ASSERT_TRUE(mutant.has_value()) << text << ": " << mutation_name(mutation);
  EXPECT_EQ(verify(text, *mutant), "wrong_result") << text << ": " << mutation_name(mutation);
}

INSTANTIATE_TEST_SUITE_P(
    Accepted, WrongAtTheEnds,
    testing::Values(AtTheEnds{"relu:n=24,m=24", Mutation::Clamped, 0},
                    AtTheEnds{"relu:n=24,m=24", Mutation::Clamped, 2},
                    AtTheEnds{"relu:n=24,m=24,dtype=f16", Mutation::Clamped, 0},
                    AtTheEnds{"relu:n=24,m=24,dtype=bf16", Mutation::Clamped, 2},
                    AtTheEnds{"relu:n=24,m=24,dtype=i32", Mutation::Clamped, 2},
                    AtTheEnds{"relu:n=24,m=24", Mutation::DenormalsFlushed, 0},
                    AtTheEnds{"relu:n=24,m=24", Mutation::ExtremeSwapped, 0},
                    // Too large for separate draws, so edges lie in slices of the plain data.
                    AtTheEnds{"relu:n=512,m=512", Mutation::Clamped, 2},
                    AtTheEnds{"gmm:n=64,m=64,k=64", Mutation::Clamped, 2},
                    AtTheEnds{"gmm:n=64,m=64,k=64,dtype=f16", Mutation::Clamped, 2},
                    AtTheEnds{"conv2d:h=14,w=14,ci=16,co=32", Mutation::Clamped, 2},
                    AtTheEnds{"conv2d:h=7,w=6,ci=5,co=9,dtype=f16", Mutation::Clamped, 2},
                    AtTheEnds{"layer_norm:m=128,n=768", Mutation::Clamped, 2},
                    AtTheEnds{"elementwise_chain:n=24,m=20,dtype=f16", Mutation::Clamped, 1},
                    AtTheEnds{"dense_bias_gelu:n=128,m=96,k=32", Mutation::Clamped, 2},
                    AtTheEnds{"gmm:n=24,m=24,k=24", Mutation::DenormalsFlushed, 0},
                    AtTheEnds{"gmm:n=24,m=24,k=24", Mutation::DenormalsFlushed, 1},
                    AtTheEnds{"gmm:n=24,m=24,k=24,dtype=f64", Mutation::DenormalsFlushed, 0},
                    AtTheEnds{"gmm:n=24,m=24,k=24,dtype=i32,acc=i32", Mutation::LowHalfProduct, 0},
                    AtTheEnds{"gmm:n=24,m=24,k=24,dtype=i64,acc=i64", Mutation::LowHalfProduct, 0},
                    AtTheEnds{"gmm:n=64,m=64,k=64,dtype=i32,acc=i32", Mutation::Saturates, 0}),
    [](const auto& at) { return "N" + std::to_string(at.index); });

}  // namespace
}  // namespace tunesmith
