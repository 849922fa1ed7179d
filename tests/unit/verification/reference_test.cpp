#include "tunesmith/verification/reference.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tunesmith/ir/visit.h"
#include "tunesmith/trace/schedule.h"
#include "tunesmith/workload/library.h"
#include "unit/verification/reference_data.h"

namespace tunesmith {
namespace {

using namespace test;

std::vector<Tensor> inputs_of(const Program& program) {
  std::vector<Tensor> inputs;
  for (const Buffer& input : program.inputs) {
    inputs.push_back(Tensor::like(*input));
    inputs.back().fill_random(inputs.size());
  }
  return inputs;
}

TEST(ReferenceProgram, OfAProductHasValuesAndBoundsInDoublePrecision) {
  const Workload workload = WorkloadLibrary().load("gmm:n=3,m=2,k=5");
  const Program reference = reference_program(workload.program, DataKind::Random);
  ASSERT_EQ(reference.outputs.size(), 2u);
  for (const Buffer& output : reference.outputs) EXPECT_EQ(output->dtype, kF64);
  const std::vector<Tensor> inputs = inputs_of(workload.program);
  const std::vector<Tensor> results = run(reference, inputs);
  for (int64_t i = 0; i < 3; ++i) {
    for (int64_t j = 0; j < 2; ++j) {
      double value = 0.0;
      double squares = 0.0;
      double roundings = 0.0;
      for (int64_t k = 0; k < 5; ++k) {
        const double product = inputs[0].get(i * 5 + k) * inputs[1].get(k * 2 + j);
        value += product;
        squares += product * product;
        roundings += value * value;
      }
      EXPECT_DOUBLE_EQ(results[0].get(i * 2 + j), value);
      EXPECT_DOUBLE_EQ(results[1].get(i * 2 + j), 4.0 * 0x1p-24 * std::sqrt(roundings + 5.0 * squares));
    }
  }
}

// Weights of a cubic interpolation, whose bound would have 4 million nodes, since each sum has its terms'
// bounds twice.
TEST(ReferenceProgram, OfNestedSumsAndProductsStaysSmall) {
  const std::string near = "(f32(i % 3) * 0.3333333333333333)";
  const auto weight = [](const std::string& at) {
    return "((-0.5 * " + at + " - 5 * -0.5) * " + at + " * " + at + " + 8 * -0.5 * " + at + " - 4 * -0.5)";
  };
  std::string sum;
  for (const std::string& at : {"(" + near + " + 1)", near, "(1 - " + near + ")", "(2 - " + near + ")"})
    sum += (sum.empty() ? "" : " + ") + weight(at) + " * X[i // 3]";
  const Program program = program_of("O[i<3*n] = " + sum, "X: {shape: [n], dtype: f32}");
  const std::vector<Tensor> inputs = inputs_of(program);
  const std::vector<Tensor> plain = run(program, inputs);
  for (const DataKind data : {DataKind::Random, DataKind::Exact}) {
    const Program reference = reference_program(program, data);
    size_t nodes = 0;
    walk(reference.root(), [&](const Stmt& stmt) {
      if (const Store* store = stmt.as<Store>()) walk_expr(store->value, [&](const Expr&) { ++nodes; });
    });
    EXPECT_LT(nodes, 200000U);
    const std::vector<Tensor> results = run(reference, inputs);
    for (int64_t i = 0; i < program.outputs[0]->shape[0]; ++i) {
      EXPECT_NEAR(results[0].get(i), plain[0].get(i), results[1].get(i)) << i;
      EXPECT_LT(results[1].get(i), 1e-4) << i;
    }
  }
}

TEST(ReferenceProgram, WhatDoesNotRoundHasNoBound) {
  const auto rounds = [](const Program& program) { return bool{has_bound(program, DataKind::Random)[0]}; };
  EXPECT_FALSE(rounds(program_of("O[i<n] = X[i] * 3", "X: {shape: [n], dtype: i32}")));
  EXPECT_FALSE(rounds(program_of("O[i<n] = X[n - 1 - i]")));
  EXPECT_FALSE(rounds(program_of("O[one<1] = max(i<n) abs(X[i])")));
  EXPECT_FALSE(rounds(program_of("O[i<n] = f32(X[i])", "X: {shape: [n], dtype: bf16}")));
  EXPECT_TRUE(rounds(program_of("O[i<n] = bf16(X[i])")));
  EXPECT_TRUE(rounds(program_of("O[i<n] = X[i] * 3")));
  const Program integers = program_of("O[i<n] = X[i] * 3", "X: {shape: [n], dtype: i32}");
  const std::vector<Tensor> inputs = inputs_of(integers);
  EXPECT_EQ(run(reference_program(integers, DataKind::Random), inputs), run(integers, inputs));
}

TEST(ReferenceProgram, SmallIntegersAreSummedUpWithoutError) {
  for (const char* text :
       {"gmm:n=9,m=7,k=300", "gmm:n=9,m=7,k=300,dtype=bf16", "gmm:n=9,m=7,k=300,dtype=f16", "norm:m=1,n=5",
        "reduce_sum_1d:n=4000,dtype=f16", "reduce_sum_1d:n=4000,dtype=bf16",
        "conv_bias_bn_relu:h=5,w=5,ci=3,co=4", "gmm:n=9,m=7,k=300,dtype=f16,acc=f16"}) {
    const Workload workload = WorkloadLibrary().load(text);
    DrawnData data = data_of(workload.program, DataKind::Exact);
    std::vector<Tensor> got = run(workload.program, data.inputs);
    EXPECT_EQ(worst(got, data), 0.0) << text << ": " << data.fill.text();
    // A difference by the type's smallest step is found.
    if (std::string(text).starts_with("norm")) continue;
    const double at = got[0].get(0);
    got[0].set(0, at == 0.0 ? 1e-6 : at * (1.0 + 2.0 * unit_roundoff(got[0].dtype)));
    EXPECT_GT(worst(got, data), 1.0) << text;
  }
}

// The reference adds the largest terms last, so that its partial sums are small; the program adds them first.
TEST(ReferenceProgram, ASumMayBeginWithItsLargestTerms) {
  constexpr int64_t kRows = 4000;
  constexpr int64_t kTerms = 144;
  const Program program =
      program_of("O[i<n] = sum(k<144) X[i, k]", "X: {shape: [n, 144], dtype: f32}", "n: 4000");
  Tensor terms = inputs_of(program)[0];
  for (int64_t i = 0; i < kRows; ++i) {
    terms.set(i * kTerms + kTerms - 2, 100.3);
    terms.set(i * kTerms + kTerms - 1, -100.3);
  }
  const std::vector<Tensor> results = run(reference_program(program, DataKind::Random), {terms});
  double worst = 0.0;
  for (int64_t i = 0; i < kRows; ++i) {
    float sum = 0.0F;
    sum += static_cast<float>(terms.get(i * kTerms + kTerms - 2));
    for (int64_t k = 0; k < kTerms; ++k) {
      if (k != kTerms - 2) sum += static_cast<float>(terms.get(i * kTerms + k));
    }
    worst = std::max(worst, std::abs(static_cast<double>(sum) - results[0].get(i)) / results[1].get(i));
  }
  EXPECT_LT(worst, 1.0);
  // The bound is far below a term.
  EXPECT_LT(results[1].get(0), 0.01);
  EXPECT_GT(worst, 0.2);
}

// A million squares added in sequence lose 2e-4 of their sum, all in one direction; such a program was once
// refused. A program that omits a tenth of them must still be refused.
TEST(ReferenceProgram, ALongSumOfOneSignMayDrift) {
  const Workload workload = WorkloadLibrary().load("norm:m=1024,n=1024");
  const Program& program = workload.program;
  std::vector<Tensor> inputs = draw_inputs(plain_question(program, DataKind::Random), {DataKind::Random});
  const std::vector<Tensor> results = run(reference_program(program, DataKind::Random), inputs);
  const ExpectedOutput expected(program.outputs[0], results[0], &results[1]);
  const auto error = [&] { return expected.compare(run(program, inputs)[0].bytes.data()).worst; };
  EXPECT_LE(error(), 1.0);
  for (int64_t i = 0; i < inputs[0].elements(); i += 10) inputs[0].set(i, 0.0);
  EXPECT_GT(error(), 1.0);
}

/// Sums of exp(X) from the last term to the first.
Tensor sums_from_the_end(const Program& program, const Tensor& terms) {
  const int64_t rows = program.outputs[0]->shape[0];
  const int64_t row = terms.elements() / rows;
  Tensor sums = Tensor::like(*program.outputs[0]);
  Tensor exponential = Tensor::zeros(sums.dtype, {1});
  for (int64_t i = 0; i < sums.elements(); ++i) {
    for (int64_t k = row; k-- > 0;) {
      exponential.set(0, std::exp(terms.get(i * row + k)));
      sums.set(i, sums.get(i) + exponential.get(0));  // exact in f64, then rounded
    }
  }
  return sums;
}

// Thousands of terms are each too small to change a large one: a program that begins with the large term
// loses all of them, twice as much as bounds for random rounding allow.
TEST(ReferenceProgram, ASumOfExponentialsMayLoseAllThatIsTooSmallForTheLargest) {
  constexpr int64_t kTerms = 4096;
  for (const std::string type : {"f32", "f16", "bf16"}) {
    const Program program = program_of("O[i<n] = sum(k<4096) exp(X[i, k])",
                                       "X: {shape: [n, 4096], dtype: " + type + "}", "n: 4, dtype: " + type);
    Tensor terms = Tensor::like(*program.inputs[0]);
    const double unit = unit_roundoff(terms.dtype);
    for (int64_t i = 0; i < terms.elements(); ++i) {
      const double share = 0.9 - 0.2 * static_cast<double>(i % 7) / 7.0;
      terms.set(i, i % kTerms == kTerms - 1 ? 0.0 : std::log(share * unit));
    }
    const Program reference = reference_program(program, DataKind::Random);
    const std::vector<Tensor> results = run(reference, {terms});
    const ExpectedOutput expected(program.outputs[0], results[0], &results[1]);
    const Tensor lost = sums_from_the_end(program, terms);
    EXPECT_EQ(lost.get(0), 1.0) << type;
    EXPECT_LE(expected.compare(lost.bytes.data()).worst, 1.0) << type;
    if (type != "f32") continue;  // a narrow sum may lose more than that by rounding
    const double allowed = results[1].get(0);
    EXPECT_LT(allowed, 1.6 * (results[0].get(0) - 1.0)) << "no more than by about what is lost";
    Tensor wrong = lost;
    for (int64_t i = 0; i < 4; ++i) wrong.set(i, 1.0 - 2.0 * allowed);
    EXPECT_GT(expected.compare(wrong.bytes.data()).worst, 1.0);
  }
}

// Exponentials of numbers near zero are so nearly equal that all round in one direction once the sum has a
// coarser step. One row of a thousand exceeded its bound, and a correct softmax was refused.
TEST(ReferenceProgram, ASumOfNearlyEqualExponentialsRoundsInOneDirection) {
  constexpr int64_t kRows = 256;
  const Program program = program_of("O[i<n] = sum(k<1024) exp(X[i, k])", "X: {shape: [n, 1024], dtype: f32}",
                                     "n: 256, dtype: f32");
  Tensor inputs = inputs_of(program)[0];
  for (int64_t i = 0; i < inputs.elements(); ++i)
    inputs.set(i, std::ldexp(inputs.get(i) - 1.0,
                             -14 - static_cast<int>(i / 1024 % 8)));  // below zero, as in a softmax
  const std::vector<Tensor> results = run(reference_program(program, DataKind::Random), {inputs});
  Tensor sums = run(program, {inputs})[0];
  const ExpectedOutput expected(program.outputs[0], results[0], &results[1]);
  EXPECT_LE(expected.compare(sums.bytes.data()).worst, 1.0);
  EXPECT_LT(results[1].get(0), 0.25) << "a quarter of a term";
  sums.set(kRows / 2, sums.get(kRows / 2) - 1.0);
  EXPECT_GT(expected.compare(sums.bytes.data()).worst, 1.0);
}

// None of a thousand similar terms is lost, nor may one be.
TEST(ReferenceProgram, ASumOfExponentialsShowsEachTermThatIsNoSmallerThanOthers) {
  const Program program = program_of("O[i<n] = sum(k<1024) exp(X[i, k])", "X: {shape: [n, 1024], dtype: f32}",
                                     "n: 4, dtype: f32");
  const std::vector<Tensor> inputs = inputs_of(program);
  const std::vector<Tensor> results = run(reference_program(program, DataKind::Random), inputs);
  const ExpectedOutput expected(program.outputs[0], results[0], &results[1]);
  EXPECT_LE(expected.compare(run(program, inputs)[0].bytes.data()).worst, 1.0);
  EXPECT_LT(results[1].get(0), 0.5 * std::exp(-1.0));
  std::vector<Tensor> fewer = inputs;
  for (int64_t i = 0; i < 4; ++i) fewer[0].set(i * 1024 + 500, -100.0);
  EXPECT_GT(expected.compare(run(program, fewer)[0].bytes.data()).worst, 1.0);
}

/// The unscheduled program in its own precision passes on both sets, and a small mistake fails on one.
class LibraryWorkloads : public testing::TestWithParam<const char*> {};

TEST_P(LibraryWorkloads, RoundingIsWithinTheBoundAndAMistakeIsNot) {
  const std::string name = GetParam();
  for (const std::string type : {"f32", "f64", "f16", "bf16"}) {
    const Workload workload = WorkloadLibrary().load(name + ",dtype=" + type);
    bool seen = false;
    for (const DataKind kind : kDataKinds) {
      DrawnData data = data_of(workload.program, kind);
      EXPECT_LE(worst(run(workload.program, data.inputs), data), 1.0) << type << " " << data.fill.text();
      // Changes one element of the first input, like a single wrong index.
      Tensor& input = data.inputs[0];
      int64_t at = input.elements() / 2;
      while (input.get(at) == data.fill.background) ++at;
      input.set(at, data.fill.background);
      seen = seen || worst(run(workload.program, data.inputs), data) > 1.0;
    }
    EXPECT_TRUE(seen) << type;
  }
}

TEST_P(LibraryWorkloads, InFastOrderEveryBitIsTheSame) {
  const Workload workload = WorkloadLibrary().load(GetParam());
  for (const DataKind kind : kDataKinds) {
    const Program reference = reference_program(workload.program, kind);
    const std::vector<Tensor> inputs = inputs_of(workload.program);
    EXPECT_EQ(run(in_fast_order(reference), inputs), run(reference, inputs));
  }
}

// -9 * 12.25 is rounded to -110, and -122.25 to -122, though -122.5 is a number of bf16.
TEST(ReferenceProgram, ARoundedOperandMakesAnotherRounding) {
  const Program program = program_of("S[i<n] = X[i] * 12.25\n  O[i<n] = S[i] + S[(i + 1) % n]",
                                     "X: {shape: [n], dtype: bf16}", "n: 2, dtype: bf16");
  Tensor data = Tensor::like(*program.inputs[0]);
  data.set(0, -9.0);
  data.set(1, -1.0);
  const std::vector<Tensor> results = run(reference_program(program, DataKind::Exact), {data});
  const ExpectedOutput expected(program.outputs[0], results[0], &results[1]);
  const std::vector<Tensor> got = run(program, {data});
  EXPECT_EQ(got[0].get(0), -122.0);
  EXPECT_LE(expected.compare(got[0].bytes.data()).worst, 1.0);
}

TEST(ReferenceProgram, ReadsNoBoundThatASelectGuards) {
  const Program program =
      program_of("S[i<n] = X[i] * 3\n  O[i<n] = (sum(r<3) inside(S[i + r - 1], 0)) + inside(S[i - 2], 1)");
  for (const DataKind kind : kDataKinds) {
    const DrawnData data = data_of(program, kind);
    EXPECT_LE(worst(run(program, data.inputs), data), 1.0);
  }
}

TEST(FastOrder, OfAProductRunsAlongTheRowsInParallelOnVectors) {
  const Workload workload = WorkloadLibrary().load("gmm:n=3,m=2,k=5");
  const Program reference = reference_program(workload.program, DataKind::Random);
  Schedule schedule(in_fast_order(reference));
  const BlockRV block = schedule.get_block(reference.blocks().front()->name);
  std::vector<std::string> loops;
  for (const LoopRV& loop : schedule.get_loops(block)) loops.push_back(schedule.loop(loop).var->name);
  EXPECT_EQ(loops, (std::vector<std::string>{"z", "i", "r", "j_0", "j_1"}));
  EXPECT_EQ(schedule.loop(schedule.get_loops(block)[1]).loop_kind, LoopKind::Parallel);
  EXPECT_EQ(schedule.loop(schedule.get_loops(block).back()).loop_kind, LoopKind::Vectorized);
}

INSTANTIATE_TEST_SUITE_P(Small, LibraryWorkloads,
                         testing::Values("gmm:n=7,m=5,k=33", "conv2d:h=6,w=5,ci=3,co=4,kernel=3,padding=1",
                                         "dense_bias_gelu:n=6,m=5,k=7", "conv_bias_bn_relu:h=5,w=5,ci=3,co=4",
                                         "softmax:m=4,n=37", "elementwise_chain:n=5,m=7",
                                         "layer_norm:m=4,n=19", "norm:m=6,n=8"));

}  // namespace
}  // namespace tunesmith
