// Long chains, for which the usual data are useless.
#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "tunesmith/support/error.h"
#include "tunesmith/workload/workload.h"
#include "unit/verification/random_set.h"
#include "unit/verification/reference_data.h"

namespace tunesmith {
namespace {

Program program(const std::string& text) {
  return std::move(WorkloadDefinition::parse(text, "t.yaml").instantiate().program);
}

std::vector<DrawnData> set_of(const Program& of, DataKind kind) {
  const DataQuestion question = question_of(of, kind);
  const Program reference = reference_program(of, kind);
  const RunReference run = [&](std::span<Tensor> tensors) { interpret(reference, tensors); };
  DrawnData first = choose_data(question, run);
  std::vector<DrawnData> draws;
  if (first.fill.draws > 1) draws = draw_all(question, first.fill, run);
  if (draws.empty()) draws.push_back(std::move(first));
  return draws;
}

/// Applies `stage` this many times.
Program chain(const std::string& stage, int count) {
  std::string text = "name: chain\nparams: {n: 64}\ninputs:\n  X0: {shape: [n], dtype: f32}\ncompute: |\n";
  for (int i = 0; i < count; ++i) {
    std::string value = stage;
    for (size_t at = 0; (at = value.find('x', at)) != std::string::npos;) {
      const bool word = (at > 0 && std::isalpha(value[at - 1]) != 0) || std::isalpha(value[at + 1]) != 0;
      const std::string element = "X" + std::to_string(i) + "[i]";
      if (!word) value.replace(at, 1, element);
      at += word ? 1 : element.size();
    }
    text += "  X" + std::to_string(i + 1) + "[i<n] = " + value + "\n";
  }
  return program(text + "outputs: [X" + std::to_string(count) + "]\n");
}

double worst_with(const Program& of, const std::vector<DrawnData>& draws, double added) {
  double worst = 0.0;
  for (const DrawnData& draw : draws) {
    std::vector<Tensor> arguments = draw.inputs;
    for (const Buffer& output : of.outputs) arguments.push_back(Tensor::like(*output));
    interpret(of, arguments);
    Tensor& result = arguments.back();
    for (int64_t i = 0; i < result.elements(); ++i) result.set(i, result.get(i) + added);
    worst = std::max(worst, draw.expected[0].compare(result.bytes.data()).worst);
  }
  return worst;
}

// Alternating negation and rectification gives exactly zero.
TEST(NoUsualData, NegationDoesNotRound) {
  EXPECT_THAT(has_bound(chain("max(0, -x)", 3), DataKind::Random), testing::ElementsAre(false));
  for (const DataKind kind : kDataKinds) {
    const Program zero = chain("max(0, -x)", 20);
    std::vector<DrawnData> draws = set_of(zero, kind);
    EXPECT_EQ(worst_with(zero, draws, 0.0), 0.0);
    EXPECT_GT(worst_with(zero, draws, 1e-30), 1.0);
  }
}

TEST(NoUsualData, AChainThatUnderflowsIsVerifiedOnLargeDataOrAsZero) {
  for (const DataKind kind : kDataKinds) {
    const Program small = chain("0.1 * x", 55);  // scales by 1e-55
    std::vector<DrawnData> draws = set_of(small, kind);
    EXPECT_GT(draws.front().fill.scale, 0.0) << draws.front().fill.text();
    EXPECT_LE(worst_of(small, draws), 1.0);
    std::vector<DrawnData> of_others = set_of(small, kind);
    EXPECT_GT(worst_of(chain("0.1 * x", 54), of_others), 1.0);
    const Program nothing = chain("0.1 * x", 120);
    draws = set_of(nothing, kind);
    EXPECT_LE(worst_with(nothing, draws, 0.0), 1.0);
    EXPECT_GT(worst_with(nothing, draws, 1e-30), 1.0);
  }
}

TEST(NoUsualData, AChainThatOverflowsIsVerifiedOnSmallData) {
  const Program large = chain("10.0 * x", 55);
  std::vector<DrawnData> draws = set_of(large, DataKind::Random);
  EXPECT_LT(draws.front().fill.scale, 0.0) << draws.front().fill.text();
  EXPECT_LE(worst_of(large, draws), 1.0);
  EXPECT_GT(worst_of(chain("10.0 * x", 54), draws), 1.0);
}

}  // namespace
}  // namespace tunesmith
