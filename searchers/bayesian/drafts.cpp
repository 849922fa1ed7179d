#include "drafts.h"

#include <algorithm>
#include <set>

#include <tunesmith/search/encoding.h>

namespace tunesmith::bayesian {
namespace {

/// The number of best programs that are mutated, besides the sketches' best.
constexpr size_t kParents = 16;

/// Changes `changes` decisions, or all that can change if they are fewer.
Draft change(const Observation& from, size_t changes, RandomStream& random) {
  std::vector<const SamplingPoint*> points;
  for (const SamplingPoint& point : from.candidate->points) points.push_back(&point);
  random.shuffle(points);
  Draft draft{from.candidate->trace.searchable(), from.sketch, {}, false};
  for (const SamplingPoint* point : points) {
    if (changes == 0) break;
    auto decision = point->kind->mutate(point->domain, *draft.trace[point->position].decision, random);
    if (!decision) continue;
    draft.trace = draft.trace.with_decision(point->position, std::move(*decision));
    --changes;
  }
  draft.x = encode(from.candidate->points, draft.trace);
  return draft;
}

/// Chooses among the sketches that have a best program, by its rank.
size_t choose_region(const Observations& observations, RandomStream& random) {
  std::vector<size_t> sketches;
  for (size_t i = 0; i < observations.regions().size(); ++i) {
    if (observations.regions()[i].best != TrustRegion::kNone) sketches.push_back(i);
  }
  const auto best = [&](size_t sketch) {
    return *observations.all()[observations.regions()[sketch].best].value;
  };
  std::ranges::stable_sort(sketches, [&](size_t a, size_t b) { return best(a) > best(b); });
  std::vector<double> weights;
  for (size_t rank = 0; rank < sketches.size(); ++rank)
    weights.push_back(1.0 / static_cast<double>(rank + 1));
  return sketches[random.categorical(weights)];
}

}  // namespace

Draft draw_draft(SearchContext& context) {
  RandomStream random = context.next_stream();
  const size_t chosen = random.below(context.sketches().size());
  const Schedule& sketch = context.sketches()[chosen];
  Draft draft{sketch.trace(), chosen, {}, false};
  for (const SamplingPoint& point : sketch.sampling_points())
    draft.trace = draft.trace.with_decision(point.position, point.kind->propose(point.domain, random));
  draft.x = encode(sketch.sampling_points(), draft.trace);
  return draft;
}

std::vector<Draft> make_drafts(SearchContext& context, const Observations& observations, size_t count) {
  std::set<std::pair<size_t, std::vector<double>>> known;
  for (const Observation& seen : observations.all()) known.emplace(seen.sketch, seen.x);
  std::vector<Draft> drafts;
  const auto add = [&](Draft draft) {
    if (known.emplace(draft.sketch, draft.x).second) drafts.push_back(std::move(draft));
  };
  const std::vector<size_t> best = observations.best_first();
  for (size_t i = 0; i < count; ++i) {
    if (best.empty() || i % 4 == 3) {
      add(draw_draft(context));
      continue;
    }
    RandomStream random = context.next_stream();
    if (i % 2 == 0) {
      const TrustRegion& region = observations.regions()[choose_region(observations, random)];
      Draft draft = change(observations.all()[region.best], 1 + random.below(region.radius), random);
      draft.near = true;
      add(std::move(draft));
    } else {
      const size_t parent = best[random.below(std::min(kParents, best.size()))];
      add(change(observations.all()[parent], 1, random));
    }
  }
  return drafts;
}

std::vector<SearchContext::Draft> to_materialise(const std::vector<Draft>& drafts) {
  std::vector<SearchContext::Draft> made;
  // The drafts have no open decisions, so nothing is drawn.
  for (const Draft& draft : drafts) made.push_back({draft.trace, RandomStream(0)});
  return made;
}

}  // namespace tunesmith::bayesian
