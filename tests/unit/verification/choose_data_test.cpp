#include "tunesmith/verification/choose_data.h"

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tunesmith/support/error.h"
#include "tunesmith/verification/interpreter.h"
#include "tunesmith/workload/library.h"
#include "unit/verification/reference_data.h"

namespace tunesmith {
namespace {

using namespace test;

// A half-precision sum of two thousand numbers is meaningless, and once every result was accepted.
TEST(ChooseData, LeavesOutTermsThatATypeCannotSumUp) {
  for (const char* text : {"reduce_sum_1d:n=2000,dtype=bf16", "softmax:m=8,n=2000,dtype=bf16",
                           "layer_norm:m=8,n=768,dtype=bf16", "norm:m=64,n=64,dtype=f16"}) {
    const Workload workload = WorkloadLibrary().load(text);
    for (const DataKind kind : kDataKinds) {
      const DrawnData data = data_of(workload.program, kind);
      EXPECT_GT(data.fill.terms, 0) << text;
      std::vector<Tensor> zeros;
      for (const Buffer& output : workload.program.outputs) zeros.push_back(Tensor::like(*output));
      EXPECT_GT(worst(zeros, data), 1.0) << text;
    }
  }
}

// With mostly zeros, an element computed from its neighbour was accepted.
TEST(ChooseData, ANormHasRowsWhoseMeansAreExact) {
  const Workload workload = WorkloadLibrary().load("layer_norm:m=8,n=768,dtype=bf16");
  const DrawnData data = data_of(workload.program, DataKind::Exact);
  EXPECT_TRUE(data.fill.balanced) << data.fill.text();
  EXPECT_LE(worst(run(workload.program, data.inputs), data), 1.0);
  const Tensor& rows = data.inputs[0];
  for (int64_t i = 0; i < 8; ++i) {
    double sum = 0.0;
    double squares = 0.0;
    for (int64_t j = 0; j < 768; ++j) {
      sum += rows.get(i * 768 + j);
      squares += rows.get(i * 768 + j) * rows.get(i * 768 + j);
    }
    EXPECT_EQ(sum, 0.0);
    int exponent = 0;
    EXPECT_EQ(std::frexp(squares / 768.0, &exponent), 0.5);
    EXPECT_EQ((exponent - 1) % 2, 0) << "a power of a quarter";
  }
  // Reading a neighbour's element shows where the two differ.
  const std::vector<Tensor> right = run(workload.program, data.inputs);
  const double scale = 1.0 / std::sqrt(1e-5 + 192.0 / 768.0);  // for the first row
  int differ = 0;
  for (int64_t j = 0; j + 1 < 768; ++j) {
    if (rows.get(j) == rows.get(j + 1)) continue;
    ++differ;
    std::vector<Tensor> wrong = right;
    wrong[0].set(j, rows.get(j + 1) * scale * data.inputs[1].get(j) + data.inputs[2].get(j));
    EXPECT_GT(worst(wrong, data), 1.0) << j;
  }
  EXPECT_GT(differ, 768 / 4) << "and elsewhere in other draws";
  EXPECT_EQ(data.fill.draws, 4);
}

// In bf16 exp(-12 + noise) may be off by a twentieth.
TEST(ChooseData, NeighboursOfABackgroundLieApart) {
  const Workload workload = WorkloadLibrary().load("softmax:m=16,n=512,dtype=bf16");
  const DrawnData data = data_of(workload.program, DataKind::Random);
  ASSERT_GT(data.fill.noise, 0.0) << data.fill.text();
  const Tensor& rows = data.inputs[0];
  for (int64_t i = 0; i < 15 * 512; ++i) {
    const double here = rows.get(i);
    if (i % 512 != 511) {
      EXPECT_GT(std::abs(here - rows.get(i + 1)), 0.2) << i;
    }
    EXPECT_GT(std::abs(here - rows.get(i + 512)), 0.2) << i;
  }
}

// A batch norm takes roots, so a draw with negative numbers gives NaN and is useless.
TEST(ChooseData, ARootIsTakenOfPositiveNumbersAtTheSecondAttempt) {
  const Program program = WorkloadDefinition::parse(
                              "name: scaled\ninputs:\n  X: {shape: [8, 300], dtype: f32}\n"
                              "  V: {shape: [300], dtype: f32}\ncompute: |\n"
                              "  O[i<8] = sum(r<300) X[i, r] / sqrt(V[r] + 0.5)\noutputs: [O]\n",
                              "scaled.yaml")
                              .instantiate()
                              .program.clone();
  for (const DataKind kind : {DataKind::Exact, DataKind::Random}) {
    const Program reference = reference_program(program, kind);
    int attempts = 0;
    const DrawnData data = choose_data(plain_question(program, kind), [&](std::span<Tensor> tensors) {
      interpret(reference, tensors);
      ++attempts;
    });
    EXPECT_TRUE(data.fill.positive) << data.fill.text();
    EXPECT_EQ(attempts, 2) << data.fill.text();
  }
}

TEST(ChooseData, RandomDataAreDrawnMoreOftenTheCoarserRoundingIs) {
  const auto draws = [](const char* text) {
    return data_of(WorkloadLibrary().load(text).program, DataKind::Random).fill.draws;
  };
  EXPECT_EQ(draws("gmm:n=16,m=16,k=16"), 1);
  EXPECT_EQ(draws("softmax:m=512,n=512"), 3) << "with peaks";
  EXPECT_EQ(draws("softmax:m=16,n=512,dtype=bf16"), 6);
  const Program program = WorkloadLibrary().load("softmax:m=16,n=512,dtype=bf16").program;
  const Program reference = reference_program(program, DataKind::Random);
  const RunReference run = [&](std::span<Tensor> tensors) { interpret(reference, tensors); };
  const DataQuestion question = plain_question(program, DataKind::Random);
  const std::vector<DrawnData> all = draw_all(question, choose_data(question, run).fill, run);
  ASSERT_EQ(all.size(), 6U);
  EXPECT_EQ(all.front().fill.draws, 6);
  EXPECT_NE(all[0].inputs[0].bytes, all[1].inputs[0].bytes);
}

// These were once refused, because a single draw saw too few of their terms.
TEST(ChooseData, SeveralDrawsSeeEveryTermOfALongSum) {
  for (const char* text : {"reduce_sum_1d:n=4096,dtype=bf16", "norm:m=64,n=64,dtype=f16",
                           "softmax:m=1,n=1000,dtype=bf16", "layer_norm:m=1,n=768,dtype=f16"}) {
    const Workload workload = WorkloadLibrary().load(text);
    const Program reference = reference_program(workload.program, DataKind::Exact);
    const std::vector<DrawnData> draws =
        choose_several_draws(plain_question(workload.program, DataKind::Exact),
                             [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
    ASSERT_GT(draws.size(), 1u) << text;
    std::vector<int> seen(static_cast<size_t>(draws[0].inputs[0].elements()), 0);
    for (const DrawnData& draw : draws) {
      const double background = draw.fill.background;
      for (size_t i = 0; i < seen.size(); ++i)
        seen[i] += draw.inputs[0].get(static_cast<int64_t>(i)) == background ? 0 : 1;
    }
    EXPECT_EQ(seen, std::vector<int>(seen.size(), 1)) << text;
    for (const size_t number : {size_t{0}, draws.size() - 1}) {
      DrawnData draw = draws[number];
      EXPECT_LE(worst(run(workload.program, draw.inputs), draw), 1.0) << text;
      Tensor& input = draw.inputs[0];
      int64_t at = input.elements() / 2;
      while (input.get(at) == draw.fill.background) ++at;
      input.set(at, draw.fill.background);
      EXPECT_GT(worst(run(workload.program, draw.inputs), draw), 1.0) << text << ", without a term";
    }
  }
}

// The sum of 256 ones is exact, but neither one more nor one less changes its root.
TEST(ChooseData, AResultOf16BitsMayHideATerm) {
  const auto hides = [](const char* text) {
    const Workload workload = WorkloadLibrary().load(text);
    const Program reference = reference_program(workload.program, DataKind::Exact);
    const RunReference run_reference = [&](std::span<Tensor> tensors) { interpret(reference, tensors); };
    const DataQuestion question = plain_question(workload.program, DataKind::Exact);
    return hides_a_term(question, choose_data(question, run_reference), run_reference);
  };
  EXPECT_TRUE(hides("norm:m=16,n=16,dtype=bf16"));
  EXPECT_FALSE(hides("norm:m=16,n=16,dtype=f16"));
  EXPECT_FALSE(hides("norm:m=16,n=16"));
  EXPECT_FALSE(hides("gmm:n=9,m=7,k=200,dtype=bf16"));
  EXPECT_FALSE(hides("avg_pool2d:h=9,w=9,c=6,dtype=bf16"));
  EXPECT_FALSE(hides("max_pool2d:h=9,w=9,c=6,dtype=bf16"));
  EXPECT_FALSE(hides("elementwise_chain:n=6,m=7,dtype=bf16"));
}

// Such a program was once accepted: a softmax is the same for any maximum until an exponential overflows.
TEST(ChooseData, AMaximumThatLacksTermsShows) {
  const auto softmax = [](const std::string& terms, const std::string& dtype) {
    return program_of("Max[i<5] = max(j<" + terms + ") X[i, j]\n  E[i<5, j<75] = exp(X[i, j] - Max[i])\n" +
                          "  Sum[i<5] = sum(j<75) E[i, j]\n  O[i<5, j<75] = E[i, j] / Sum[i]",
                      "X: {shape: [5, 75], dtype: dtype}", "dtype: " + dtype);
  };
  for (const char* dtype : {"f32", "f16", "bf16", "f64"}) {
    const Program program = softmax("75", dtype);
    const Program reference = reference_program(program, DataKind::Random);
    const RunReference run_reference = [&](std::span<Tensor> tensors) { interpret(reference, tensors); };
    const DataQuestion question = plain_question(program, DataKind::Random);
    const std::vector<DrawnData> draws =
        draw_all(question, choose_data(question, run_reference).fill, run_reference);
    ASSERT_GE(draws.size(), 6U) << dtype;
    EXPECT_EQ(draws.front().fill.peaks, 4) << dtype;
    double worst_right = 0.0;
    double worst_wrong = 0.0;
    for (const DrawnData& draw : draws) {
      worst_right = std::max(worst_right, worst(run(program, draw.inputs), draw));
      worst_wrong = std::max(worst_wrong, worst(run(softmax("70", dtype), draw.inputs), draw));
    }
    EXPECT_LE(worst_right, 1.0) << dtype;
    EXPECT_GT(worst_wrong, 1.0) << dtype;
  }
  EXPECT_FALSE(exponentiates_below_maximum(program_of("O[i<n] = exp(X[i])")));
  EXPECT_FALSE(exponentiates_below_maximum(program_of("M[one<1] = max(i<n) X[i]\n  O[i<n] = X[i] - M[0]")));
  EXPECT_TRUE(exponentiates_below_maximum(
      program_of("M[one<1] = max(i<n) X[i]\n  D[i<n] = X[i] - M[0]\n  O[i<n] = exp(D[i])")));
}

TEST(ChooseData, AProductOfManyIsOfNumbersNearOne) {
  for (const int64_t terms : {8, 700, 5000}) {
    for (const char* dtype : {"f32", "f64"}) {
      const Workload workload =
          WorkloadDefinition::parse(
              fmt::format("name: t\ninputs: {{X: {{shape: [4, {0}], dtype: {1}}}}}\ncompute: |\n"
                          "  O[i<4] = prod(k<{0}) X[i, k]\noutputs: [O]\n",
                          terms, dtype),
              "t.yaml")
              .instantiate();
      EXPECT_TRUE(edge_traits(workload.program).multiplies);
      for (const DataKind kind : kDataKinds) {
        DataQuestion question = plain_question(workload.program, kind);
        question.edges.multiplies = true;
        const Program reference = reference_program(workload.program, kind);
        const DrawnData data =
            choose_data(question, [&](std::span<Tensor> tensors) { interpret(reference, tensors); });
        EXPECT_LE(worst(run(workload.program, data.inputs), data), 1.0) << data.fill.text();
        std::vector<Tensor> without = data.inputs;  // one term is left out
        without[0].set(terms / 2, without[0].get(terms / 2) == 1.0 ? -1.0 : 1.0);
        EXPECT_GT(worst(run(workload.program, without), data), 1.0) << data.fill.text();
      }
    }
  }
}

TEST(ChooseData, TakesPositiveNumbersWhereOthersGiveNaN) {
  const DrawnData data = data_of(program_of("O[i<n] = log(X[i])"), DataKind::Random);
  EXPECT_TRUE(data.fill.positive);
}

TEST(ChooseData, RefusesWhatNoDataVerify) {
  // The sum of a constant: no input makes it shorter.
  const Program program = program_of("S[one<1] = sum(i<n) (X[i] * 0.0001 + 1.3)\n  O[one<1] = S[one]",
                                     "X: {shape: [n], dtype: dtype}", "n: 4096, dtype: bf16");
  try {
    data_of(program, DataKind::Random);
    FAIL() << "nothing was thrown";
  } catch (const UserError& error) {
    EXPECT_NE(std::string(error.what()).find("O cannot be verified"), std::string::npos) << error.what();
  }
}

}  // namespace
}  // namespace tunesmith
