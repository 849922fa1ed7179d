#include <array>
#include <cmath>

#include "unit/primitives/programs.h"

namespace tunesmith {
namespace {

using test::expect_refused;

const SamplingKind& categorical() {
  return static_cast<const SamplingKind&>(*InstructionRegistry::global().find("sample_categorical"));
}

SamplingDomain domain(std::vector<double> weights) {
  SamplingDomain result;
  for (size_t i = 0; i < weights.size(); ++i) result.candidates.push_back(static_cast<int64_t>(10 * i));
  result.weights = std::move(weights);
  return result;
}

TEST(SampleCategorical, FollowsThePrior) {
  const SamplingDomain prior = domain({0.5, 0.0, 0.2, 0.3});
  RandomStream random(9);
  std::array<int, 4> counts{};
  constexpr int kDraws = 100000;
  for (int i = 0; i < kDraws; ++i) ++counts[static_cast<size_t>(categorical().propose(prior, random)[0])];
  EXPECT_EQ(counts[1], 0);
  for (size_t i = 0; i < counts.size(); ++i)
    EXPECT_NEAR(counts[i], kDraws * prior.weights[i], 4 * std::sqrt(kDraws / 4));
}

TEST(SampleCategorical, MovesToOtherCandidatesOfTheSupport) {
  const SamplingDomain prior = domain({0.5, 0.0, 0.2, 0.3});
  EXPECT_EQ(categorical().enumerate(prior, {2}), (std::vector<Decision>{{0}, {3}}));
  RandomStream random(9);
  for (int i = 0; i < 100; ++i) {
    const auto other = categorical().mutate(prior, {2}, random);
    ASSERT_TRUE(other.has_value());
    EXPECT_TRUE(*other == Decision{0} || *other == Decision{3});
  }
  EXPECT_EQ(categorical().mutate(domain({0.0, 1.0}), {1}, random), std::nullopt);
  EXPECT_EQ(categorical().mutate(domain({1.0}), {0}, random), std::nullopt);
}

TEST(SampleCategorical, CarriesTheValueOver) {
  const auto args = [](std::vector<int64_t> candidates) {
    return std::vector<Arg>(1, Arg(ArgList(candidates.begin(), candidates.end())));
  };
  const auto carried = [&](int64_t decision, std::vector<int64_t> from, std::vector<int64_t> to) {
    return categorical().carry_over({decision}, args(std::move(from)), args(std::move(to)));
  };
  EXPECT_EQ(carried(2, {4, 6, 7, 12}, {4, 7, 14}), Decision{1}) << "the same value";
  EXPECT_EQ(carried(3, {4, 6, 7, 12}, {4, 7, 14}), Decision{2}) << "the nearest of values that rise";
  EXPECT_EQ(carried(1, {16, 32}, {16}), Decision{0});
  EXPECT_EQ(carried(0, {2, 0, 1}, {1, 2, 0}), Decision{1}) << "names are found by what they are";
  EXPECT_EQ(carried(0, {5, 0, 1}, {1, 2, 0}), Decision{0}) << "and one that is not there stays an index";
  const std::vector<Arg> with_variable(1, Arg(ArgList{TraceVar{0}, int64_t{3}}));
  EXPECT_EQ(categorical().carry_over({1}, with_variable, args({3, 4})), Decision{1});
  EXPECT_EQ(carried(9, {1, 2}, {1, 2}), Decision{9}) << "what is no decision is left to repair()";
}

TEST(SampleCategorical, RepairClampsTheIndex) {
  const SamplingDomain prior = domain({0.5, 0.2, 0.3});
  EXPECT_EQ(categorical().repair(prior, {1}), Decision{1});
  EXPECT_EQ(categorical().repair(prior, {7}), Decision{2});
  EXPECT_EQ(categorical().repair(prior, {-1}), Decision{0});
  EXPECT_EQ(categorical().repair(prior, {}), Decision{0});
}

TEST(SampleCategorical, CountsAndNumbersWhatMayBeDrawn) {
  const SamplingDomain prior = domain({0.5, 0.0, 0.2, 0.3});
  ASSERT_EQ(categorical().count(prior), 3U);
  EXPECT_EQ(categorical().at(prior, 0), Decision{0});
  EXPECT_EQ(categorical().at(prior, 1), Decision{2});
  EXPECT_EQ(categorical().at(prior, 2), Decision{3});
}

TEST(SampleCategorical, OrderedCandidatesAreEncodedByRankAndOthersApart) {
  SamplingDomain prior = domain({0.25, 0.25, 0.25, 0.25});
  EXPECT_EQ(categorical().encode(prior, {0}), std::vector<double>{0.0});
  EXPECT_EQ(categorical().encode(prior, {3}), std::vector<double>{1.0});
  EXPECT_EQ(categorical().encode(domain({1.0}), {0}), std::vector<double>{0.0});
  prior.candidates = {8, 0, 4, 4};
  EXPECT_EQ(categorical().encode(prior, {2}), (std::vector<double>{0, 0, 1, 0}));
}

TEST(SampleCategorical, TheIndexIsDecidedAndTheValueUsed) {
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program, RandomStream(3));
  const IntRV value = schedule.sample_categorical({16, 64}, {0.0, 1.0});
  EXPECT_EQ(schedule.value(value), 64);
  EXPECT_EQ(schedule.trace()[0].decision, Decision{1});
  ASSERT_EQ(schedule.sampling_points().size(), 1U);
  EXPECT_EQ(schedule.sampling_points()[0].domain.candidates, (std::vector<int64_t>{16, 64}));
  test::expect_replays(program, schedule);
}

TEST(SampleCategorical, Refusals) {
  const Program program = test::make_gmm(8, 8, 4);
  Schedule schedule(program);
  const auto draw = [&](const std::vector<int64_t>& values, const std::vector<double>& weights) {
    return [&] { schedule.sample_categorical(values, weights); };
  };
  expect_refused(schedule, "sample_categorical", "there are no candidates", draw({}, {}));
  expect_refused(schedule, "sample_categorical", "the numbers of probabilities and candidates differ",
                 draw({1, 2}, {1.0}));
  expect_refused(schedule, "sample_categorical", "the probabilities are not between 0 and 1 with sum 1",
                 draw({1, 2}, {1.5, -0.5}));
  expect_refused(schedule, "sample_categorical", "the probabilities are not between 0 and 1 with sum 1",
                 draw({1, 2}, {0.5, 0.2}));
}

}  // namespace
}  // namespace tunesmith
