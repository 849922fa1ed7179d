// Shared by the two variants of evolutionary search.
#pragma once

#include <vector>

#include <tunesmith/search/searcher.h>

namespace tunesmith::evolution {

struct Settings {
  size_t population = 256;
  int generations = 4;
  double mutation = 0.85;       // probability that a chosen parent is mutated
  double measured_share = 0.2;  // share of the first population that comes from the fastest measured programs
  size_t fresh = 50;            // minimum number of programs drawn anew in every round
  bool seeds = true;            // put programs of similar tasks into the first population
  double seeded_share = 0.25;   // share of a batch for these, whatever their scores
  double initial_temperature = 1.0;  // annealed: temperature of the first generation, in units of the score
  double cooling = 0.5;              // annealed: factor between generations
};

/// A candidate and its score by the cost model.
struct Scored {
  CandidatePtr candidate;
  double score = 0.0;
};

/// Evolves `population` and returns all candidates met on the way, including the first population.
std::vector<Scored> evolve_elitist(SearchContext& context, std::vector<Scored> population,
                                   const Settings& settings);
std::vector<Scored> evolve_annealed(SearchContext& context, std::vector<Scored> population,
                                    const Settings& settings);

/// Materialises and scores the drafts. Refused drafts are omitted; with `keep_places` they become null
/// candidates.
std::vector<Scored> make_scored(SearchContext& context, const std::vector<SearchContext::Draft>& drafts,
                                bool keep_places);

}  // namespace tunesmith::evolution
