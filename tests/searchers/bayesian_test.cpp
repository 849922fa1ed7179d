#include <tunesmith/search/score_quality.h>

#include "synthetic.h"

namespace tunesmith::test {
namespace {

constexpr size_t kBatch = 16;

/// The mean over five seeds.
double mean_trials(
    PluginRegistry& registry, const std::string& id, const std::vector<RawOption>& options,
    SyntheticContext::Score score = [](const Candidate&) { return 0.0; }) {
  double sum = 0.0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SyntheticContext context(seed, [](const Candidate& c) { return std::optional(microseconds(c)); }, score);
    const auto searcher = make_searcher(registry, id, options);
    sum += static_cast<double>(trials_to_optimum(context, *searcher, kBatch, 1600));
  }
  return sum / 5.0;
}

class Bayesian : public testing::TestWithParam<const char*> {
 protected:
  std::vector<RawOption> options() const { return {option("surrogate", {GetParam()})}; }
  PluginRegistry registry_;
};

std::vector<const char*> surrogates() {
#ifdef TUNESMITH_WITH_XGBOOST
  return {"trees", "gp", "score"};
#else
  return {"gp", "score"};
#endif
}

TEST_P(Bayesian, TheSameSeedGivesTheSameCandidates) {
  std::vector<uint64_t> first;
  for (const int run : {0, 1}) {
    SyntheticContext context(5);
    const auto searcher = make_searcher(registry_, "bayesian", options());
    for (int round = 0; round < 4; ++round) context.round(*searcher, kBatch);
    std::vector<uint64_t> hashes;
    for (size_t i = 0; i < context.history().size(); ++i) hashes.push_back(context.history().lowered_hash(i));
    EXPECT_EQ(hashes.size(), 4 * kBatch);
    if (run == 0) first = hashes;
    EXPECT_EQ(hashes, first);
  }
}

/// The cost model knows nothing here, so a correct order comes from the surrogate.
TEST_P(Bayesian, SaysWhatItsOwnModelExpects) {
  SyntheticContext context(5);
  const auto searcher = make_searcher(registry_, "bayesian", options());
  context.round(*searcher, kBatch);
  EXPECT_TRUE(searcher->expected().empty()) << "nothing is learned yet";
  std::vector<double> expected;
  std::vector<double> throughputs;
  for (int round = 0; round < 6; ++round) {
    const std::vector<CandidatePtr> proposed = context.round(*searcher, kBatch);
    const std::vector<double> own = searcher->expected();
    if (std::string(GetParam()) == "score") {
      EXPECT_TRUE(own.empty()) << "it models no times";
      continue;
    }
    ASSERT_EQ(own.size(), proposed.size());
    expected.insert(expected.end(), own.begin(), own.end());
    for (const CandidatePtr& candidate : proposed) throughputs.push_back(1.0 / microseconds(*candidate));
  }
  if (!expected.empty()) {
    // One in twenty blind orders would do better.
    const double chance = 1.645 / std::sqrt(static_cast<double>(expected.size() - 1));
    EXPECT_GT(rank_correlation(expected, throughputs), chance);
  }
}

TEST_P(Bayesian, AnotherObjectThatIsToldTheHistoryProposesTheSame) {
  SyntheticContext context(5);
  const auto first = make_searcher(registry_, "bayesian", options());
  for (int round = 0; round < 3; ++round) context.round(*first, kBatch);
  const auto second = make_searcher(registry_, "bayesian", options());
  second->observe(context, context.history().since(0));
  context.begin_round();
  const auto a = first->propose(context, kBatch);
  context.begin_round();
  const auto b = second->propose(context, kBatch);
  ASSERT_EQ(a.size(), b.size());
  for (size_t i = 0; i < a.size(); ++i) EXPECT_EQ(a[i]->lowered_hash, b[i]->lowered_hash);
}

TEST_P(Bayesian, EndsWhenTheSpaceIsExhausted) {
  SyntheticContext context(5);
  std::vector<Schedule> small = two_sketches(context.program());
  small.erase(small.begin());
  context.set_sketches(std::move(small));
  const auto searcher = make_searcher(registry_, "bayesian", options());
  while (!context.round(*searcher, kBatch).empty()) {
  }
  EXPECT_EQ(context.history().size(), 21U);
}

TEST_P(Bayesian, AvoidsWhatFails) {
  // Points of the wide sketch with an innermost factor above 2 fail: more than half of it.
  const auto time = [](const Candidate& c) {
    return c.points.size() == 3 && decisions_of(c)[0].back() > 2 ? std::nullopt
                                                                 : std::optional(microseconds(c));
  };
  SyntheticContext context(5, time);
  const auto searcher = make_searcher(registry_, "bayesian", options());
  for (int round = 0; round < 5; ++round) context.round(*searcher, kBatch);
  const auto failed = std::ranges::count_if(context.history().since(context.history().size() - 4 * kBatch),
                                            [](const Measured& one) { return one.failure.has_value(); });
  EXPECT_LT(failed, static_cast<long>(2 * kBatch))
      << "of four batches; with probabilities that are not looked at it is more than half";
}

INSTANTIATE_TEST_SUITE_P(Surrogates, Bayesian, testing::ValuesIn(surrogates()),
                         [](const auto& surrogate) { return std::string(surrogate.param); });

TEST(BayesianSearch, FindsTheOptimumInFewerTrialsThanBlindly) {
  PluginRegistry registry;
  const double blind = mean_trials(registry, "random", {});
  const double gp = mean_trials(registry, "bayesian", {option("surrogate", {"gp"})});
  EXPECT_LT(gp, 0.25 * blind);
  RecordProperty("blind", std::to_string(blind));
  RecordProperty("gp", std::to_string(gp));
#ifdef TUNESMITH_WITH_XGBOOST
  const double trees = mean_trials(registry, "bayesian", {option("surrogate", {"trees"})});
  EXPECT_LT(trees, 0.35 * blind);
  RecordProperty("trees", std::to_string(trees));
#endif
}

TEST(BayesianSearch, OverScoresItGoesWhereTheScoreIsHigh) {
  PluginRegistry registry;
  const auto near_right = [](const Candidate& c) {
    return -microseconds(c) - 0.3 * static_cast<double>(c.lowered_hash % 100) / 100.0;
  };
  EXPECT_LT(mean_trials(registry, "bayesian", {option("surrogate", {"score"})}, near_right), 64.0);
}

TEST(BayesianSearch, AGoodScoreHelpsFromTheBeginning) {
  PluginRegistry registry;
  const auto time = [](const Candidate& c) { return std::optional(microseconds(c)); };
  double with = 0.0;
  double without = 0.0;
  for (uint64_t seed = 1; seed <= 5; ++seed) {
    SyntheticContext knows(seed, time, [](const Candidate& c) { return -microseconds(c); });
    knows.round(*make_searcher(registry, "bayesian"), kBatch);
    with += knows.best();
    SyntheticContext knows_nothing(seed, time);
    knows_nothing.round(*make_searcher(registry, "bayesian"), kBatch);
    without += knows_nothing.best();
  }
  EXPECT_LT(with, 0.7 * without);
}

}  // namespace
}  // namespace tunesmith::test
