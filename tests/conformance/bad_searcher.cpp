// Draws from the prior, unless TUNESMITH_TEST_MISTAKE asks for a mistake.
#include <atomic>
#include <chrono>
#include <limits>
#include <set>
#include <stdexcept>
#include <thread>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

#include "mistake.h"

namespace {

using namespace tunesmith;

std::atomic<uint64_t> objects;
std::atomic<int> inside;

class BadSearcher final : public Searcher {
 public:
  ~BadSearcher() override { misbehave("destroy"); }
  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    constexpr int kEmptyDraws = 200;
    misbehave("propose");
    if (mistake("proposes_null")) return {nullptr};
    if (mistake("proposes_nothing")) return {};
    // Skips a stream for each earlier call, which a new object with the same history does not.
    for (uint64_t i = 0; mistake("forgets_the_history") && i < asked_; ++i) context.next_stream();
    ++asked_;
    const bool alone = inside++ == 0;
    if (mistake("shares_state")) std::this_thread::sleep_for(std::chrono::milliseconds(20));
    if (mistake("proposes_too_many")) n += 1;
    std::vector<CandidatePtr> found;
    std::set<uint64_t> seen;
    for (int empty = 0; found.size() < n && empty < kEmptyDraws; ++empty) {
      RandomStream random = context.next_stream();
      if (mistake("own_random_numbers")) random = RandomStream(number_, found.size() + 1000 * rounds_++);
      if (mistake("shares_state") && !alone) random = RandomStream(77, found.size());
      const SearchContext::Draft draft{context.draw(random), random};
      const CandidatePtr candidate = context.materialise(std::span(&draft, 1)).front();
      if (!candidate) continue;
      const bool fresh =
          !context.is_measured(candidate->lowered_hash) && seen.insert(candidate->lowered_hash).second;
      const bool stale = mistake("never_ends") && context.sketches().size() == 1;
      if (fresh || stale) found.push_back(candidate);
      if (mistake("proposes_twice") && found.size() == 1) found.push_back(candidate);
    }
    --inside;
    proposed_ = found.size();
    return found;
  }

  std::vector<double> expected() const override {
    misbehave("expected");
    const double number = mistake("expects_no_number") ? std::numeric_limits<double>::infinity() : 1.0;
    return std::vector<double>(proposed_ + (mistake("expects_one_more") ? 1 : 0), number);
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> results) override {
    misbehave("observe");
    size_t failures = 0;
    for (const Measured& result : results) failures += result.failure ? 1 : 0;
    if (mistake("needs_success") && failures == results.size()) throw std::runtime_error("nothing worked");
  }

 private:
  const uint64_t number_ = objects++;
  uint64_t rounds_ = 0;
  uint64_t asked_ = 0;
  size_t proposed_ = 0;
};

}  // namespace

TUNESMITH_PLUGIN(BadSearcher, PluginKind::Searcher, "bad_searcher", "1.0.0",
                 "makes the mistake that it is asked for");
