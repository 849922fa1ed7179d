// Bayesian search: in every round, a surrogate model learns time as a function of the decisions from all
// measurements, and chooses the programs to measure next (docs/search.md).
#include <algorithm>
#include <unordered_set>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/encoding.h>

#include "drafts.h"
#include "observations.h"
#include "score_search.h"
#include "surrogate.h"

namespace {

using namespace tunesmith;
using namespace tunesmith::bayesian;

#ifdef TUNESMITH_WITH_XGBOOST
constexpr bool kHasTrees = true;
#else
constexpr bool kHasTrees = false;
#endif

/// Limits how much slower than the best a program counts, as a logarithm: differences among slow programs say
/// nothing about fast ones.
constexpr double kSpan = 3.0;

std::unique_ptr<Surrogate> make_surrogate(const Options& options) {
  if (options.get_string("surrogate") == "trees") {
    if constexpr (kHasTrees) {
      return make_trees(static_cast<size_t>(options.get_int("models")));
    } else {
      options.fail("surrogate",
                   "this build has no trees: XGBoost (libxgboost-dev) was not found; 'gp' needs none");
    }
  }
  return make_gaussian_process(static_cast<size_t>(options.get_int("points")),
                               static_cast<size_t>(options.get_int("fitted_points")));
}

class Bayesian final : public Searcher {
 public:
  explicit Bayesian(const Options& options)
      : surrogate_(make_surrogate(options)),
        over_scores_(options.get_string("surrogate") == "score"),
        score_coordinate_(options.get_bool("score_coordinate")),
        pool_(static_cast<size_t>(options.get_int("pool"))),
        initial_(static_cast<size_t>(options.get_int("initial"))),
        epsilon_(options.get_double("epsilon")),
        patience_(options.get_int("patience")),
        generations_(static_cast<int>(options.get_int("generations"))),
        max_empty_rounds_(options.get_int("max_empty_rounds")) {}

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    if (!observations_) observations_.emplace(context.sketches(), patience_);
    observations_->add_new(context.history());
    for (int64_t round = 0; round < max_empty_rounds_; ++round) {
      expected_.clear();
      std::vector<CandidatePtr> picked = over_scores_ ? by_scores(context, n) : by_times(context, n);
      if (!picked.empty()) return picked;
    }
    return {};
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> /*results*/) override {}

  std::vector<double> expected() const override { return expected_; }

 private:
  struct Open {
    std::vector<CandidatePtr> candidates;
    std::vector<size_t> sketches;
    std::vector<bool> near;
  };

  /// Programs that were not measured, without duplicates.
  Open open_candidates(SearchContext& context) const {
    const std::vector<Draft> drafts = make_drafts(context, *observations_, pool_);
    std::vector<CandidatePtr> made = context.materialise(to_materialise(drafts));
    std::unordered_set<uint64_t> seen;
    Open open;
    for (size_t i = 0; i < made.size(); ++i) {
      if (!made[i] || context.is_measured(made[i]->lowered_hash) ||
          !seen.insert(made[i]->lowered_hash).second)
        continue;
      open.candidates.push_back(std::move(made[i]));
      open.sketches.push_back(drafts[i].sketch);
      open.near.push_back(drafts[i].near);
    }
    return open;
  }

  std::vector<CandidatePtr> by_times(SearchContext& context, size_t n) {
    const Open open = open_candidates(context);
    const std::vector<double> scores = context.score(open.candidates);
    std::vector<Sample> samples = observations_->samples(kSpan);
    Choice choice;
    RandomStream random = context.next_stream();
    if (samples.size() < initial_) {
      choice.order = best_first(scores);
    } else {
      Pool pool;
      for (size_t i = 0; i < open.candidates.size(); ++i) {
        const Candidate& candidate = *open.candidates[i];
        pool.points.push_back({open.sketches[i], encode(candidate.points, candidate.trace)});
        pool.validity.push_back(observations_->validity(open.sketches[i], pool.points.back().x));
        pool.near.push_back(open.near[i]);
      }
      if (score_coordinate_) add_scores(context, samples, scores, pool);
      choice = surrogate_->choose(samples, pool, n, random);
    }
    std::vector<CandidatePtr> picked;
    for (const size_t i : pick(open.candidates.size(), choice.order, n, random)) {
      picked.push_back(open.candidates[i]);
      if (!choice.expected.empty()) expected_.push_back(choice.expected[i]);
    }
    return picked;
  }

  std::vector<CandidatePtr> by_scores(SearchContext& context, size_t n) const {
    const ScoreSettings settings{pool_, std::max<size_t>(n, 32), generations_, patience_};
    const std::vector<CandidatePtr> found = search_scores(context, *observations_, *surrogate_, settings);
    std::vector<size_t> order(found.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    RandomStream random = context.next_stream();
    std::vector<CandidatePtr> picked;
    for (const size_t i : pick(found.size(), order, n, random)) picked.push_back(found[i]);
    return picked;
  }

  /// Adds the cost model's score as a coordinate, and as a linear regression's prior for programs without
  /// measured ones nearby.
  void add_scores(SearchContext& context, std::vector<Sample>& samples,
                  const std::vector<double>& open_scores, Pool& pool) const {
    std::vector<CandidatePtr> measured;
    for (const Observation& seen : observations_->all()) {
      if (seen.value) measured.push_back(seen.candidate);
    }
    std::vector<double> scores = context.score(measured);
    scores.insert(scores.end(), open_scores.begin(), open_scores.end());
    const auto [low, high] = std::ranges::minmax(scores);
    const double width = high > low ? high - low : 1.0;
    for (double& score : scores) score = (score - low) / width;
    double mean = 0.0;
    for (size_t i = 0; i < samples.size(); ++i) mean += scores[i] / static_cast<double>(samples.size());
    double together = 0.0;
    double squares = 0.1;  // regularises the regression if there are few samples
    for (size_t i = 0; i < samples.size(); ++i) {
      together += (scores[i] - mean) * samples[i].y;
      squares += (scores[i] - mean) * (scores[i] - mean);
    }
    const auto add = [&](Point& point, double score) {
      point.x.push_back(score);
      point.prior = together / squares * (score - mean);
    };
    for (size_t i = 0; i < samples.size(); ++i) add(samples[i].point, scores[i]);
    for (size_t i = 0; i < pool.points.size(); ++i) add(pool.points[i], scores[samples.size() + i]);
  }

  static std::vector<size_t> best_first(const std::vector<double>& scores) {
    std::vector<size_t> order(scores.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    return order;
  }

  /// The first of the open candidates in this order; a share of `epsilon_`, at the end, is chosen at random.
  std::vector<size_t> pick(size_t open, const std::vector<size_t>& order, size_t n,
                           RandomStream& random) const {
    std::vector<bool> taken(open, false);
    std::vector<size_t> picked;
    const auto take = [&](size_t i) {
      if (!taken[i]) picked.push_back(i);
      taken[i] = true;
    };
    n = std::min(n, open);
    const auto blind = static_cast<size_t>(epsilon_ * static_cast<double>(n));
    for (const size_t i : order) {
      if (picked.size() + blind < n) take(i);
    }
    while (picked.size() < n) take(random.below(open));
    return picked;
  }

  std::unique_ptr<Surrogate> surrogate_;
  bool over_scores_;
  bool score_coordinate_;
  size_t pool_;
  size_t initial_;
  double epsilon_;
  int64_t patience_;
  int generations_;
  int64_t max_empty_rounds_;
  std::optional<Observations> observations_;
  std::vector<double> expected_;  // the surrogate's predictions for the last proposal; empty for scores
};

}  // namespace

TUNESMITH_PLUGIN(
    Bayesian, PluginKind::Searcher, "bayesian", "0.2.0",
    "Bayesian optimisation: measure programs of high expected improvement",
    OptionSpec::choice("surrogate", "gp", {"trees", "gp", "score"},
                       "trees: boosted trees with Thompson sampling (XGBoost); gp: a Gaussian process on the "
                       "decisions; score: a Gaussian process over the cost model's score"),
    OptionSpec::integer("pool", 256, 16, 65536, "drafts that a batch is chosen from"),
    OptionSpec::boolean("score_coordinate", true,
                        "trees, gp: take the cost model's score for one more coordinate, and for what is "
                        "expected where nothing was measured"),
    OptionSpec::integer(
        "initial", 16, 2, 65536,
        "trees, gp: programs that must work before the model chooses; before, the cost model does"),
    OptionSpec::integer("points", 192, 8, 2048,
                        "gp, score: measured programs of a sketch that the process knows"),
    OptionSpec::integer("fitted_points", 96, 4, 2048,
                        "gp, score: of these, those that its lengths are found by"),
    OptionSpec::integer("models", 12, 1, 256, "trees: ensembles, each learned from another sample"),
    OptionSpec::integer("patience", 16, 1, 65536,
                        "programs of a sketch without a faster one before its trust region is halved"),
    OptionSpec::integer("generations", 4, 1, 1000,
                        "score: batches that are scored between two measured rounds"),
    OptionSpec::real("epsilon", 0.08, 0.0, 1.0, "share of proposals chosen at random"),
    OptionSpec::integer("max_empty_rounds", 5, 1, 1000,
                        "rounds without a new program after which the search ends"));
