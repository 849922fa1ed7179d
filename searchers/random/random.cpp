// Draws candidates from the space's prior: the baseline of all searchers.
#include <unordered_set>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

namespace {

using namespace tunesmith;

class RandomSearcher final : public Searcher {
 public:
  explicit RandomSearcher(const Options& options) : max_empty_draws_(options.get_int("max_empty_draws")) {}

  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    std::vector<CandidatePtr> found;
    std::unordered_set<uint64_t> seen;
    for (int64_t empty = 0; found.size() < n && empty < max_empty_draws_;) {
      std::vector<SearchContext::Draft> drafts;
      for (size_t i = found.size(); i < n; ++i) {
        RandomStream random = context.next_stream();
        const Schedule& sketch = context.sketches()[random.below(context.sketches().size())];
        Trace trace = sketch.trace().with_open_decisions();
        drafts.push_back({std::move(trace), random});
      }
      for (CandidatePtr& candidate : context.materialise(drafts)) {
        const bool fresh = candidate && !context.is_measured(candidate->lowered_hash) &&
                           seen.insert(candidate->lowered_hash).second;
        if (fresh) found.push_back(std::move(candidate));
        empty = fresh ? 0 : empty + 1;
      }
    }
    return found;
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> /*results*/) override {}

 private:
  int64_t max_empty_draws_;
};

}  // namespace

TUNESMITH_PLUGIN(
    RandomSearcher, PluginKind::Searcher, "random", "0.1.0", "draw candidates from the prior",
    OptionSpec::integer("max_empty_draws", 1000, 1, 1000000,
                        "draws in a row without a new program after which the space counts as exhausted"));
