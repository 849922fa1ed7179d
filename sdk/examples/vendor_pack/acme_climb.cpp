// Hill climbing: proposes the untried neighbours of the fastest program so far, best score first, or draws
// from the prior if there are none.
#include <algorithm>
#include <unordered_set>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

namespace {

using namespace tunesmith;

class AcmeClimb final : public Searcher {
 public:
  explicit AcmeClimb(const Options& options) : max_draws_(options.get_int("max_draws")) {}

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    std::vector<CandidatePtr> chosen;
    std::unordered_set<uint64_t> seen;
    if (best_) take(context, neighbours(context), n, seen, chosen);
    for (int64_t draws = 0; chosen.size() < n && draws < max_draws_;) {
      std::vector<SearchContext::Draft> drafts;
      for (size_t i = chosen.size(); i < n; ++i, ++draws) {
        RandomStream random = context.next_stream();
        Trace trace = context.draw(random);
        drafts.push_back({std::move(trace), random});
      }
      take(context, drafts, n, seen, chosen);
    }
    return chosen;
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> results) override {
    for (const Measured& result : results) {
      if (result.timing && (!best_ || result.timing->median < seconds_)) {
        best_ = result.candidate;
        seconds_ = result.timing->median;
      }
    }
  }

 private:
  std::vector<SearchContext::Draft> neighbours(SearchContext& context) const {
    std::vector<SearchContext::Draft> drafts;
    for (Trace& trace : context.neighbours(*best_))
      drafts.push_back({std::move(trace), context.next_stream()});
    return drafts;
  }

  /// Takes new programs among the drafts, until there are `n`.
  static void take(SearchContext& context, std::span<const SearchContext::Draft> drafts, size_t n,
                   std::unordered_set<uint64_t>& seen, std::vector<CandidatePtr>& chosen) {
    std::vector<CandidatePtr> fresh;
    for (CandidatePtr& candidate : context.materialise(drafts)) {
      if (candidate && !context.is_measured(candidate->lowered_hash) &&
          seen.insert(candidate->lowered_hash).second) {
        fresh.push_back(std::move(candidate));
      }
    }
    const std::vector<double> scores = context.score(fresh);
    std::vector<size_t> order(fresh.size());
    for (size_t i = 0; i < order.size(); ++i) order[i] = i;
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    for (const size_t i : order) {
      if (chosen.size() < n) chosen.push_back(fresh[i]);
    }
  }

  int64_t max_draws_;
  CandidatePtr best_;
  double seconds_ = 0.0;
};

}  // namespace

TUNESMITH_PLUGIN(AcmeClimb, PluginKind::Searcher, "acme_climb", "1.0.0",
                 "climb from the fastest program so far",
                 OptionSpec::integer("max_draws", 1000, 1, 1000000, "draws from the prior for one proposal"));
