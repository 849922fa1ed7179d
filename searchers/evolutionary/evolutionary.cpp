// Evolutionary search over traces (MetaSchedule, section 4): mutates a population of candidates under the
// cost model's scores, and proposes the best that were not measured.
#include <algorithm>
#include <unordered_set>

#include <tunesmith/plugin/plugin.h>

#include "evolution.h"

namespace tunesmith::evolution {

std::vector<Scored> make_scored(SearchContext& context, const std::vector<SearchContext::Draft>& drafts,
                                bool keep_places) {
  const std::vector<CandidatePtr> made = context.materialise(drafts);
  std::vector<CandidatePtr> valid;
  for (const CandidatePtr& candidate : made) {
    if (candidate) valid.push_back(candidate);
  }
  const std::vector<double> scores = context.score(valid);
  std::vector<Scored> scored;
  size_t next = 0;
  for (const CandidatePtr& candidate : made) {
    if (candidate) {
      scored.push_back({candidate, scores[next++]});
    } else if (keep_places) {
      scored.push_back({});
    }
  }
  return scored;
}

}  // namespace tunesmith::evolution

namespace {

using namespace tunesmith;
using evolution::Scored;

/// The maximum number of populations drawn in one round.
constexpr int kMaxDraws = 8;

class Evolutionary final : public Searcher {
 public:
  explicit Evolutionary(const Options& options)
      : annealed_(options.get_string("acceptance") == "annealed"),
        first_round_(static_cast<size_t>(options.get_int("first_round"))),
        epsilon_(options.get_double("epsilon_greedy")),
        max_empty_rounds_(options.get_int("max_empty_rounds")) {
    settings_.population = static_cast<size_t>(options.get_int("population"));
    settings_.generations = static_cast<int>(options.get_int("generations"));
    settings_.mutation = options.get_double("mutation");
    settings_.measured_share = options.get_double("measured_share");
    settings_.fresh = static_cast<size_t>(options.get_int("fresh"));
    settings_.seeds = options.get_bool("seeds");
    settings_.seeded_share = options.get_double("seeded_share");
    settings_.initial_temperature = options.get_double("temperature");
    settings_.cooling = options.get_double("cooling");
  }

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    // A small first round: its results guide the choice of the next programs.
    n = std::min(n, std::max(first_round_, context.history().size()));
    for (int64_t round = 0; round < max_empty_rounds_; ++round) {
      const std::vector<Scored> seeds = seeds_of(context);
      std::vector<Scored> population = first_population(context);
      population.insert(population.end(), seeds.begin(), seeds.end());
      std::vector<Scored> met = annealed_
                                    ? evolution::evolve_annealed(context, std::move(population), settings_)
                                    : evolution::evolve_elitist(context, std::move(population), settings_);
      std::vector<CandidatePtr> picked = pick(context, seeds, std::move(met), n);
      if (!picked.empty()) return picked;
    }
    return {};
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> /*results*/) override {}

 private:
  /// The seeds that were not measured, in their order.
  std::vector<Scored> seeds_of(SearchContext& context) const {
    if (!settings_.seeds) return {};
    std::vector<SearchContext::Draft> drafts;
    for (const Trace& seed : context.seeds()) drafts.push_back({seed, context.next_stream()});
    std::vector<Scored> seeds = evolution::make_scored(context, drafts, false);
    std::erase_if(seeds,
                  [&](const Scored& seed) { return context.is_measured(seed.candidate->lowered_hash); });
    return seeds;
  }

  std::vector<Scored> first_population(SearchContext& context) const {
    const auto share =
        static_cast<size_t>(settings_.measured_share * static_cast<double>(settings_.population));
    const std::vector<CandidatePtr> fastest = context.history().fastest(share);
    const std::vector<double> scores = context.score(fastest);
    std::vector<Scored> population;
    for (size_t i = 0; i < fastest.size(); ++i) population.push_back({fastest[i], scores[i]});
    const size_t missing = settings_.population - std::min(settings_.population, population.size());
    const size_t wanted = std::max(missing, settings_.fresh);
    size_t drawn = 0;
    // Draws again if most draws were refused.
    for (int time = 0; time < kMaxDraws && 2 * drawn < wanted; ++time) {
      std::vector<SearchContext::Draft> drafts;
      for (size_t i = 0; i < wanted; ++i) {
        RandomStream random = context.next_stream();
        Trace trace = context.draw(random);
        drafts.push_back({std::move(trace), random});
      }
      const std::vector<Scored> fresh = evolution::make_scored(context, drafts, false);
      population.insert(population.end(), fresh.begin(), fresh.end());
      drawn += fresh.size();
    }
    return population;
  }

  /// The best `n` unmeasured programs, after a share for the seeds; a share of `epsilon_` is chosen at
  /// random.
  std::vector<CandidatePtr> pick(SearchContext& context, const std::vector<Scored>& seeds,
                                 std::vector<Scored> met, size_t n) const {
    std::unordered_set<uint64_t> seen;
    std::vector<CandidatePtr> picked;
    for (const Scored& seed : seeds) {
      if (static_cast<double>(picked.size() + 1) > settings_.seeded_share * static_cast<double>(n)) break;
      if (seen.insert(seed.candidate->lowered_hash).second) picked.push_back(seed.candidate);
    }
    std::erase_if(met, [&](const Scored& one) {
      return context.is_measured(one.candidate->lowered_hash) ||
             !seen.insert(one.candidate->lowered_hash).second;
    });
    std::stable_sort(met.begin(), met.end(),
                     [](const Scored& a, const Scored& b) { return a.score > b.score; });
    RandomStream random = context.next_stream();
    while (picked.size() < n && !met.empty()) {
      const size_t chosen = random.uniform() < epsilon_ ? random.below(met.size()) : 0;
      picked.push_back(std::move(met[chosen].candidate));
      met.erase(met.begin() + static_cast<std::ptrdiff_t>(chosen));
    }
    return picked;
  }

  evolution::Settings settings_;
  bool annealed_;
  size_t first_round_;
  double epsilon_;
  int64_t max_empty_rounds_;
};

}  // namespace

TUNESMITH_PLUGIN(
    Evolutionary, PluginKind::Searcher, "evolutionary", "0.3.0",
    "evolve a population of traces guided by the cost model",
    OptionSpec::choice("acceptance", "elitist", {"elitist", "annealed"},
                       "elitist: draw parents by rank; annealed: the paper's Metropolis-Hastings walks"),
    OptionSpec::integer("population", 64, 2, 65536, "candidates in a generation"),
    OptionSpec::integer("generations", 4, 1, 1000, "generations between two measured rounds"),
    OptionSpec::real("mutation", 0.85, 0.0, 1.0,
                     "elitist: probability that a parent is mutated and not kept"),
    OptionSpec::real("measured_share", 0.2, 0.0, 1.0,
                     "share of the first generation taken from the fastest measured"),
    OptionSpec::integer("fresh", 50, 0, 65536, "candidates drawn anew in every round, at least"),
    OptionSpec::integer("first_round", 8, 1, 65536,
                        "proposed at most at a time, or as many as programs are known"),
    OptionSpec::boolean("seeds", true, "start with the fastest recorded programs of similar tasks"),
    OptionSpec::real("seeded_share", 0.25, 0.0, 1.0,
                     "share of a round, at most, that goes to those whatever the cost model says of them"),
    OptionSpec::real("epsilon_greedy", 0.05, 0.0, 1.0, "share of proposals chosen at random"),
    OptionSpec::real("temperature", 1.0, 1e-6, 1e6,
                     "annealed: temperature of the first generation, in units of the score"),
    OptionSpec::real("cooling", 0.5, 1e-3, 1.0,
                     "annealed: temperature of a generation over that of the one before"),
    OptionSpec::integer("max_empty_rounds", 5, 1, 1000,
                        "rounds without a new program after which the search ends"));
