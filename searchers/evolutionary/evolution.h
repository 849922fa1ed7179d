// What the two variants of the evolutionary search share.
#pragma once

#include <vector>

#include <tunesmith/search/searcher.h>

namespace tunesmith::evolution {

struct Settings {
  size_t population = 256;
  int generations = 4;
  double mutation = 0.85;            // probability that a chosen parent is mutated
  double measured_share = 0.2;       // of the first population, from the fastest measured
  size_t fresh = 50;                 // drawn anew in every round, at least
  bool seeds = true;                 // of similar tasks are in the first population
  double seeded_share = 0.25;        // of a batch that goes to them, whatever the model says of them
  double initial_temperature = 1.0;  // annealed: of the first generation, in units of the score
  double cooling = 0.5;              // annealed: from one generation to the next
};

/// A candidate and the cost model's opinion of it.
struct Scored {
  CandidatePtr candidate;
  double score = 0.0;
};

/// Evolves `population` and answers every candidate met on the way, the first population included.
std::vector<Scored> evolve_elitist(SearchContext& context, std::vector<Scored> population,
                                   const Settings& settings);
std::vector<Scored> evolve_annealed(SearchContext& context, std::vector<Scored> population,
                                    const Settings& settings);

/// Materialises the drafts and scores them; refused ones are left out unless `keep_places`, which leaves a
/// null candidate.
std::vector<Scored> make_scored(SearchContext& context, const std::vector<SearchContext::Draft>& drafts,
                                bool keep_places);

}  // namespace tunesmith::evolution
