// Surrogate C: a Gaussian process over the cost model's score (F. J. Rocke, "Discovering High-Performance
// Tensor Programs with Bayesian Optimization").
#pragma once

#include <vector>

#include <tunesmith/search/searcher.h>

#include "observations.h"

namespace tunesmith::bayesian {

struct ScoreSettings {
  size_t pool = 1024;  // number of drafts from which each batch is chosen
  size_t batch = 64;   // number of candidates scored in each generation
  int generations = 4;
  int64_t patience = 16;
};

/// New programs, the highest score first; those that probably fail come last. The process models the score as
/// a function of the decisions, and so selects the drafts that become candidates and are scored, in place of
/// mutation and selection.
std::vector<CandidatePtr> search_scores(SearchContext& context, const Observations& measured,
                                        const Surrogate& surrogate, const ScoreSettings& settings);

}  // namespace tunesmith::bayesian
