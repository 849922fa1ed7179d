// Traces that could be tried next: mutations of the best and points drawn from the prior, with their
// encodings, before any is made a candidate.
#pragma once

#include <vector>

#include <tunesmith/search/searcher.h>

#include "observations.h"

namespace tunesmith::bayesian {

/// A trace without open decisions, and where it is in the space of its sketch.
struct Draft {
  Trace trace;
  size_t sketch = 0;
  std::vector<double> x;
  bool near = false;  // inside the trust region of its sketch
};

/// About `count` drafts, no two with one encoding: half inside the trust regions (those of good sketches more
/// often), a quarter one decision away from some of the best, the rest from the prior; all from the prior
/// while nothing works.
std::vector<Draft> make_drafts(SearchContext& context, const Observations& observations, size_t count);

/// From the prior alone.
Draft draw_draft(SearchContext& context);

/// For SearchContext::materialise().
std::vector<SearchContext::Draft> to_materialise(const std::vector<Draft>& drafts);

}  // namespace tunesmith::bayesian
