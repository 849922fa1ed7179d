// Proposes every point of the space once, sketch by sketch, in a fixed order: the last decision of a sketch
// changes fastest, each through SamplingKind::at(). When nothing is left it proposes nothing, which ends the
// search as "nothing left to propose".
#include <algorithm>
#include <unordered_set>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

namespace {

using namespace tunesmith;

/// The number of each decision of a sketch in its domain.
using Digits = std::vector<uint64_t>;

/// A sketch's points in their order. What can be decided may depend on what was decided before, so domains
/// are thought to be as they were last met until a candidate shows that they are others.
class Points {
 public:
  explicit Points(const Schedule& sketch)
      : trace_(sketch.trace()), points_(sketch.sampling_points()), digits_(points_.size(), 0) {}

  const Digits& digits() const { return digits_; }
  void go_to(Digits digits) { digits_ = std::move(digits); }

  Trace trace() const {
    Trace trace = trace_;
    for (size_t i = 0; i < points_.size(); ++i)
      trace = trace.with_decision(points_[i].position, points_[i].kind->at(points_[i].domain, digits_[i]));
    return trace;
  }

  /// False: that was the last point.
  bool advance() {
    for (size_t i = digits_.size(); i-- > 0;) {
      if (++digits_[i] < points_[i].kind->count(points_[i].domain)) return true;
      digits_[i] = 0;
    }
    return false;
  }

  /// Takes over the domains that the point `at` met. True when one was not as thought: then the points from
  /// its first decision on come next.
  bool correct(const Digits& at, std::span<const SamplingPoint> met) {
    size_t first = 0;
    while (first < points_.size() && points_[first].domain == met[first].domain) ++first;
    if (first == points_.size()) return false;
    for (size_t i = first; i < points_.size(); ++i) points_[i].domain = met[i].domain;
    digits_ = at;
    std::fill(digits_.begin() + static_cast<std::ptrdiff_t>(first), digits_.end(), 0);
    return true;
  }

 private:
  Trace trace_;
  std::vector<SamplingPoint> points_;
  Digits digits_;
};

class Exhaustive final : public Searcher {
 public:
  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    std::vector<CandidatePtr> found;
    while (found.size() < n && (points_ || sketch_ < context.sketches().size())) {
      if (!points_) points_.emplace(context.sketches()[sketch_++]);
      take_some(context, n, found);
    }
    return found;
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> /*results*/) override {}

 private:
  /// Makes the next points candidates, and takes those that are new.
  void take_some(SearchContext& context, size_t n, std::vector<CandidatePtr>& found) {
    std::vector<Digits> ahead;
    std::vector<SearchContext::Draft> drafts;
    bool more = true;
    while (more && drafts.size() < n) {
      ahead.push_back(points_->digits());
      // Nothing is left open, so that nothing is drawn.
      drafts.push_back({points_->trace(), RandomStream(0)});
      more = points_->advance();
    }
    std::vector<CandidatePtr> made = context.materialise(drafts);
    for (size_t i = 0; i < made.size(); ++i) {
      if (found.size() == n) return points_->go_to(ahead[i]);
      if (!made[i]) continue;
      if (points_->correct(ahead[i], made[i]->points)) return;
      if (!context.is_measured(made[i]->lowered_hash) && seen_.insert(made[i]->lowered_hash).second)
        found.push_back(std::move(made[i]));
    }
    if (!more) points_.reset();
  }

  size_t sketch_ = 0;             // the next one
  std::optional<Points> points_;  // of the one before it, as long as there are more
  std::unordered_set<uint64_t> seen_;
};

}  // namespace

TUNESMITH_PLUGIN(Exhaustive, PluginKind::Searcher, "exhaustive", "0.1.0",
                 "measure every program of the space, in a fixed order");
