#include "sketch_promise.h"

#include <algorithm>

#include "tunesmith/search/encoding.h"

namespace tunesmith {
namespace {

/// The prior expectation of a sketch counts as this many programs.
constexpr double kPrior = 2.0;

}  // namespace

SketchPromise::SketchPromise(std::span<const Schedule> sketches)
    : tallies_(sketches.size()), weights_(sketches.size(), 1.0) {
  for (size_t i = 0; i < sketches.size(); ++i) index_of_.emplace(sketch_key(sketches[i].trace()), i);
}

void SketchPromise::add(std::span<const Measured> results) {
  for (const Measured& result : results) {
    const auto found = index_of_.find(sketch_key(result.candidate->trace));
    if (found == index_of_.end()) continue;
    Tally& tally = tallies_[found->second];
    ++tally.programs;
    if (result.timing) tally.seconds = std::min(tally.seconds, result.timing->min);
  }
  weights_ = compute_weights();
}

std::vector<double> SketchPromise::compute_weights() const {
  const double best = std::ranges::min(tallies_, {}, &Tally::seconds).seconds;
  std::vector<double> weights(tallies_.size(), 1.0);
  if (best == std::numeric_limits<double>::infinity()) return weights;
  double sum = 0.0;
  double known = 0.0;
  for (const Tally& tally : tallies_) {
    if (tally.programs == 0) continue;
    sum += best / tally.seconds;  // 0 if none of its programs worked
    ++known;
  }
  for (size_t i = 0; i < tallies_.size(); ++i) {
    const auto programs = static_cast<double>(tallies_[i].programs);
    const double share = programs > 0.0 ? best / tallies_[i].seconds : 0.0;
    const double expected = (programs * share + kPrior * sum / known) / (programs + kPrior);
    weights[i] = expected * expected;
  }
  return weights;
}

}  // namespace tunesmith
