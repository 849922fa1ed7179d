// Coordinate descent from the best recorded programs, to finish a search. It measures the programs that
// differ from the fastest in one decision, the most promising first, and continues from the first that is
// faster. (Droplet: Canesche et al., "The Droplet Search Algorithm for Kernel Scheduling", 2024, descends
// along one coordinate at a time in the same way.)
#include <algorithm>
#include <numeric>
#include <unordered_set>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

namespace {

using namespace tunesmith;

class Droplet final : public Searcher {
 public:
  explicit Droplet(const Options& options)
      : starts_(static_cast<size_t>(options.get_int("starts"))),
        step_(static_cast<size_t>(options.get_int("step"))),
        max_empty_draws_(options.get_int("max_empty_draws")) {}

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    const std::vector<CandidatePtr> fastest = context.history().fastest(starts_);
    if (fastest.empty()) return draw(context, n);
    for (const CandidatePtr& start : fastest) {
      // Takes a stream for each start, so that streams do not depend on `spent_`, which a resumed run lacks.
      const RandomStream random = context.next_stream();
      if (spent_.contains(start->lowered_hash)) continue;
      std::vector<CandidatePtr> found = unmeasured_neighbours(context, *start, random);
      if (found.empty()) spent_.insert(start->lowered_hash);
      if (found.empty()) continue;
      found.resize(std::min({found.size(), n, step_}));
      return found;
    }
    return {};
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> /*results*/) override {}

 private:
  /// Sorted by the cost model's score, the highest first.
  static std::vector<CandidatePtr> unmeasured_neighbours(SearchContext& context, const Candidate& start,
                                                         const RandomStream& random) {
    std::vector<SearchContext::Draft> drafts;
    for (Trace& trace : context.neighbours(start)) drafts.push_back({std::move(trace), random});
    std::vector<CandidatePtr> found;
    std::unordered_set<uint64_t> seen;
    for (CandidatePtr& candidate : context.materialise(drafts)) {
      if (candidate && !context.is_measured(candidate->lowered_hash) &&
          seen.insert(candidate->lowered_hash).second)
        found.push_back(std::move(candidate));
    }
    const std::vector<double> scores = context.score(found);
    std::vector<size_t> order(found.size());
    std::iota(order.begin(), order.end(), size_t{0});
    std::stable_sort(order.begin(), order.end(), [&](size_t a, size_t b) { return scores[a] > scores[b]; });
    std::vector<CandidatePtr> sorted;
    for (const size_t i : order) sorted.push_back(std::move(found[i]));
    return sorted;
  }

  /// Draws programs while no recorded program works: there is no start for the descent.
  std::vector<CandidatePtr> draw(SearchContext& context, size_t n) const {
    std::vector<CandidatePtr> found;
    std::unordered_set<uint64_t> seen;
    for (int64_t empty = 0; found.size() < n && empty < max_empty_draws_;) {
      RandomStream random = context.next_stream();
      const SearchContext::Draft draft{context.draw(random), random};
      CandidatePtr candidate = context.materialise({&draft, 1}).front();
      const bool fresh = candidate && !context.is_measured(candidate->lowered_hash) &&
                         seen.insert(candidate->lowered_hash).second;
      if (fresh) found.push_back(std::move(candidate));
      empty = fresh ? 0 : empty + 1;
    }
    return found;
  }

  size_t starts_;
  size_t step_;
  int64_t max_empty_draws_;
  std::unordered_set<uint64_t> spent_;  // starts without unmeasured neighbours
};

}  // namespace

TUNESMITH_PLUGIN(
    Droplet, PluginKind::Searcher, "droplet", "0.1.0",
    "hill climbing from the fastest recorded programs, one decision at a time",
    OptionSpec::integer("starts", 4, 1, 1024,
                        "fastest programs that are descended from, one after the other"),
    OptionSpec::integer("step", 16, 1, 65536, "neighbours measured before it looks for the fastest again"),
    OptionSpec::integer("max_empty_draws", 1000, 1, 1000000,
                        "while nothing works: draws in a row without a new program after which it ends"));
