// A search strategy that proposes nothing, which ends a search at once: a start for your own. The interface
// and the kernel's services for searchers are documented in <tunesmith/search/searcher.h>.
#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

namespace {

using namespace tunesmith;

class NullSearcher final : public Searcher {
 public:
  // The kernel has checked the options against the declaration at the end of this file.
  explicit NullSearcher(const Options& options) : attempts_(options.get_int("attempts")) {}

  // Returns at most n candidates, none measured before, no program twice. Draw random numbers only from
  // context.next_stream(), one stream for each candidate: then a seed gives the same search with any number
  // of threads.
  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    std::vector<SearchContext::Draft> drafts;
    for (int64_t i = 0; i < attempts_ && drafts.size() < n; ++i) {
      // Here: RandomStream random = context.next_stream(); Trace trace = context.draw(random) or
      // context.mutate(parent, random); drafts.push_back({std::move(trace), random});
    }
    std::vector<CandidatePtr> chosen;
    for (CandidatePtr& candidate : context.materialise(drafts)) {
      if (candidate && !context.is_measured(candidate->lowered_hash)) chosen.push_back(std::move(candidate));
    }
    return chosen;
  }

  // Gets the candidates' results, including those of an earlier run that is resumed.
  void observe(SearchContext& /*context*/, std::span<const Measured> /*results*/) override {}

 private:
  int64_t attempts_;
};

}  // namespace

// Class, kind, id, version, one line of help, options: name, default, least, most, help.
TUNESMITH_PLUGIN(NullSearcher, PluginKind::Searcher, "null_searcher", "0.1.0", "proposes nothing",
                 OptionSpec::integer("attempts", 1000, 1, 1000000, "drafts for one proposal"));
