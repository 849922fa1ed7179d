// Traces to try next: mutations of the best programs and draws from the prior, with their encodings, before
// they become candidates.
#pragma once

#include <vector>

#include <tunesmith/search/searcher.h>

#include "observations.h"

namespace tunesmith::bayesian {

/// A trace without open decisions, and its encoding within its sketch.
struct Draft {
  Trace trace;
  size_t sketch = 0;
  std::vector<double> x;
  bool near = false;  // inside the trust region of its sketch
};

/// Makes about `count` drafts with different encodings: half inside the trust regions (of good sketches more
/// often), a quarter one decision away from some of the best, the rest from the prior; all from the prior
/// while no program works.
std::vector<Draft> make_drafts(SearchContext& context, const Observations& observations, size_t count);

/// Draws from the prior.
Draft draw_draft(SearchContext& context);

/// The form that SearchContext::materialise() takes.
std::vector<SearchContext::Draft> to_materialise(const std::vector<Draft>& drafts);

}  // namespace tunesmith::bayesian
