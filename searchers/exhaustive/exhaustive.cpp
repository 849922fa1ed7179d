// Proposes every point of the space once, sketch by sketch, in a fixed order: the last decision of a sketch
// changes fastest, by SamplingKind::at(). At the end it proposes nothing, and the search ends with "nothing
// left to propose".
#include <algorithm>
#include <unordered_set>
#include <utility>

#include <tunesmith/plugin/plugin.h>
#include <tunesmith/search/searcher.h>

namespace {

using namespace tunesmith;

constexpr size_t kNone = static_cast<size_t>(-1);

/// A point of a sketch.
struct Place {
  std::vector<uint64_t> digits;  // the index of each decision in its domain
  size_t changed = kNone;        // the first decision that differs from the previous point
};

/// A sketch's points in order. A decision's domain may depend on earlier decisions, so domains are assumed as
/// last seen until a candidate shows that they differ.
class Points {
 public:
  explicit Points(const Schedule& sketch)
      : trace_(sketch.trace()),
        points_(sketch.sampling_points()),
        decides_domains_(points_.size(), false),
        place_{std::vector<uint64_t>(points_.size(), 0)} {}

  const Place& place() const { return place_; }
  void go_to(Place place) { place_ = std::move(place); }

  Trace trace() const {
    Trace trace = trace_;
    for (size_t i = 0; i < points_.size(); ++i)
      trace =
          trace.with_decision(points_[i].position, points_[i].kind->at(points_[i].domain, place_.digits[i]));
    return trace;
  }

  /// Returns false after the last point.
  bool advance() {
    for (size_t i = place_.digits.size(); i-- > 0;) {
      place_.changed = i;
      if (++place_.digits[i] < points_[i].kind->count(points_[i].domain)) return true;
      place_.digits[i] = 0;
    }
    return false;
  }

  /// Has a decision changed on which domains are known to depend?
  bool is_unsure() const { return place_.changed != kNone && decides_domains_[place_.changed]; }

  /// Takes over the domains `met` at the point `at`; `changed` is the first decision that changed since
  /// domains were last seen. Returns true if a domain differs from the assumption: the points from its first
  /// decision on come next.
  bool correct(const Place& at, std::span<const SamplingPoint> met, size_t changed) {
    size_t first = 0;
    while (first < points_.size() && points_[first].domain == met[first].domain) ++first;
    if (first == points_.size()) return false;
    for (size_t i = first; i < points_.size(); ++i) points_[i].domain = met[i].domain;
    if (changed != kNone) decides_domains_[changed] = true;
    place_ = {at.digits, kNone};
    std::fill(place_.digits.begin() + static_cast<std::ptrdiff_t>(first), place_.digits.end(), 0);
    return true;
  }

 private:
  Trace trace_;
  std::vector<SamplingPoint> points_;
  std::vector<bool> decides_domains_;  // by decision: do domains of later decisions depend on it?
  Place place_;
};

class Exhaustive final : public Searcher {
 public:
  std::vector<CandidatePtr> propose(SearchContext& context, size_t n) override {
    std::vector<CandidatePtr> found;
    while (found.size() < n && (points_ || sketch_ < context.sketches().size())) {
      if (!points_) {
        points_.emplace(context.sketches()[sketch_++]);
        changed_ = kNone;
      }
      take_some(context, n, found);
    }
    return found;
  }

  void observe(SearchContext& /*context*/, std::span<const Measured> /*results*/) override {}

 private:
  /// Makes candidates of the next points, and keeps new ones.
  void take_some(SearchContext& context, size_t n, std::vector<CandidatePtr>& found) {
    std::vector<Place> ahead;
    std::vector<SearchContext::Draft> drafts;
    bool more = true;
    // If domains may differ, makes one point only: later ones might have to be discarded.
    for (bool sure = true; more && sure && drafts.size() < n;) {
      sure = !points_->is_unsure();
      ahead.push_back(points_->place());
      // The trace has no open decisions, so nothing is drawn.
      drafts.push_back({points_->trace(), RandomStream(0)});
      more = points_->advance();
    }
    std::vector<CandidatePtr> made = context.materialise(drafts);
    for (size_t i = 0; i < made.size(); ++i) {
      if (found.size() == n) return points_->go_to(ahead[i]);
      changed_ = std::min(changed_, ahead[i].changed);
      if (!made[i]) continue;
      if (points_->correct(ahead[i], made[i]->points, std::exchange(changed_, kNone))) return;
      if (!context.is_measured(made[i]->lowered_hash) && seen_.insert(made[i]->lowered_hash).second)
        found.push_back(std::move(made[i]));
    }
    if (!more) points_.reset();
  }

  size_t sketch_ = 0;             // index of the next sketch
  std::optional<Points> points_;  // points of sketch_ - 1, while there are more
  size_t changed_ = kNone;        // the first decision that changed since a candidate showed the domains
  std::unordered_set<uint64_t> seen_;
};

}  // namespace

TUNESMITH_PLUGIN(Exhaustive, PluginKind::Searcher, "exhaustive", "0.1.0",
                 "measure every program of the space in a fixed order");
