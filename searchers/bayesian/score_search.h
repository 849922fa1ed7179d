// Surrogate C: the slides' search, which puts a Gaussian process over the cost model's score (F. J. Rocke,
// "Discovering High-Performance Tensor Programs with Bayesian Optimization").
#pragma once

#include <vector>

#include <tunesmith/search/searcher.h>

#include "observations.h"

namespace tunesmith::bayesian {

struct ScoreSettings {
  size_t pool = 1024;  // drafts that each batch of candidates is chosen from
  size_t batch = 64;   // candidates that are scored, in each generation
  int generations = 4;
  int64_t patience = 16;
};

/// New programs, the highest score first, and behind them those that fail more likely than not. What the
/// process models is the score as a function of the decisions: it says which of many drafts are worth being
/// made candidates and scored, in the place of mutation and selection.
std::vector<CandidatePtr> search_scores(SearchContext& context, const Observations& measured,
                                        const Surrogate& surrogate, const ScoreSettings& settings);

}  // namespace tunesmith::bayesian
