#include "score_search.h"

#include <algorithm>
#include <limits>
#include <numeric>
#include <unordered_set>

#include "drafts.h"

namespace tunesmith::bayesian {
namespace {

/// Candidates with their scores.
class Scored {
 public:
  Scored(SearchContext& context, int64_t patience)
      : context_(context), observations_(context.sketches(), patience) {}

  void add(std::vector<CandidatePtr> candidates) {
    std::erase_if(candidates, [&](const CandidatePtr& candidate) {
      return !candidate || !seen_.insert(candidate->lowered_hash).second;
    });
    const std::vector<double> scores = context_.score(candidates);
    for (size_t i = 0; i < candidates.size(); ++i) {
      observations_.add(candidates[i], scores[i]);
      if (context_.is_measured(candidates[i]->lowered_hash)) continue;
      candidates_.push_back(candidates[i]);
      scores_.push_back(scores[i]);
    }
  }

  const Observations& observations() const { return observations_; }

  std::vector<CandidatePtr> best_first() const {
    std::vector<size_t> order(candidates_.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::ranges::stable_sort(order, [&](size_t a, size_t b) { return scores_[a] > scores_[b]; });
    std::vector<CandidatePtr> sorted;
    for (const size_t i : order) sorted.push_back(candidates_[i]);
    return sorted;
  }

 private:
  SearchContext& context_;
  Observations observations_;
  std::unordered_set<uint64_t> seen_;
  std::vector<CandidatePtr> candidates_;  // candidates that were not measured
  std::vector<double> scores_;
};

}  // namespace

std::vector<CandidatePtr> search_scores(SearchContext& context, const Observations& measured,
                                        const Surrogate& surrogate, const ScoreSettings& settings) {
  Scored scored(context, settings.patience);
  std::vector<CandidatePtr> fastest;
  for (const size_t i : measured.best_first()) {
    if (fastest.size() < settings.batch) fastest.push_back(measured.all()[i].candidate);
  }
  scored.add(std::move(fastest));
  std::vector<Draft> fresh;
  for (size_t i = 0; i < settings.batch; ++i) fresh.push_back(draw_draft(context));
  scored.add(context.materialise(to_materialise(fresh)));
  for (int generation = 0; generation < settings.generations; ++generation) {
    std::vector<Draft> drafts = make_drafts(context, scored.observations(), settings.pool);
    Pool pool;
    for (const Draft& draft : drafts) {
      pool.points.push_back({draft.sketch, draft.x});
      pool.validity.push_back(measured.validity(draft.sketch, draft.x));
      pool.near.push_back(draft.near);
    }
    RandomStream random = context.next_stream();
    const std::vector<Sample> samples =
        scored.observations().samples(std::numeric_limits<double>::infinity());
    std::vector<Draft> chosen;
    for (const size_t i : surrogate.choose(samples, pool, settings.batch, random).order)
      chosen.push_back(std::move(drafts[i]));
    scored.add(context.materialise(to_materialise(chosen)));
  }
  std::vector<CandidatePtr> found = scored.best_first();
  std::ranges::stable_partition(
      found, [&](const CandidatePtr& candidate) { return measured.validity_of(*candidate) >= 0.5; });
  return found;
}

}  // namespace tunesmith::bayesian
