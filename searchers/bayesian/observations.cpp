#include "observations.h"

#include <algorithm>
#include <cmath>
#include <limits>
#include <numeric>

#include <tunesmith/search/encoding.h>

namespace tunesmith::bayesian {
namespace {

/// In the weighted vote on validity, the neighbour of this rank has weight 1 / e.
constexpr size_t kNeighbours = 5;

}  // namespace

void standardise(std::vector<double>& values) {
  if (values.empty()) return;
  const auto size = static_cast<double>(values.size());
  const double mean = std::accumulate(values.begin(), values.end(), 0.0) / size;
  double squares = 0.0;
  for (double& value : values) {
    value -= mean;
    squares += value * value;
  }
  const double deviation = std::sqrt(squares / size);
  if (deviation < 1e-12) return;
  for (double& value : values) value /= deviation;
}

Observations::Observations(const std::vector<Schedule>& sketches, int64_t patience)
    : patience_(patience), regions_(sketches.size()) {
  for (size_t i = 0; i < sketches.size(); ++i) {
    sketches_.emplace(sketch_key(sketches[i].trace()), i);
    regions_[i].radius = std::max<size_t>(sketches[i].sampling_points().size() / 2, 1);
  }
}

void Observations::add(const CandidatePtr& candidate, std::optional<double> value) {
  const auto sketch = sketches_.find(sketch_key(candidate->trace));
  if (sketch == sketches_.end()) return;
  all_.push_back({candidate, sketch->second, encode(candidate->points, candidate->trace), value});
  if (!value) ++failed_;
  adapt(regions_[sketch->second], all_.size() - 1);
}

void Observations::add_new(const MeasuredHistory& history) {
  for (; taken_in_ < history.size(); ++taken_in_) {
    const Measured measured = history[taken_in_];
    add(measured.candidate, measured.timing ? std::optional(-std::log(measured.timing->min)) : std::nullopt);
  }
}

void Observations::adapt(TrustRegion& region, size_t observation) {
  const Observation& seen = all_[observation];
  if (seen.value && (region.best == TrustRegion::kNone || *seen.value > *all_[region.best].value)) {
    region.best = observation;
    region.failures = 0;
    region.radius =
        std::clamp<size_t>(2 * region.radius, 1, std::max<size_t>(seen.candidate->points.size(), 1));
  } else if (++region.failures >= patience_) {
    region.failures = 0;
    region.radius = std::max<size_t>(region.radius / 2, 1);
  }
}

std::vector<size_t> Observations::best_first() const {
  std::vector<size_t> order;
  for (size_t i = 0; i < all_.size(); ++i) {
    if (all_[i].value) order.push_back(i);
  }
  std::ranges::stable_sort(order, [&](size_t a, size_t b) { return *all_[a].value > *all_[b].value; });
  return order;
}

std::vector<Sample> Observations::samples(double span) const {
  std::vector<Sample> samples;
  double best = -std::numeric_limits<double>::infinity();
  for (const Observation& seen : all_) {
    if (seen.value) best = std::max(best, *seen.value);
  }
  std::vector<double> values;
  for (const Observation& seen : all_) {
    if (!seen.value) continue;
    samples.push_back({{seen.sketch, seen.x}, 0.0});
    values.push_back(std::max(*seen.value, best - span));
  }
  standardise(values);
  for (size_t i = 0; i < samples.size(); ++i) samples[i].y = values[i];
  return samples;
}

double Observations::validity(size_t sketch, const std::vector<double>& x) const {
  if (failed_ == 0) return 1.0;
  std::vector<std::pair<double, bool>> nearness;  // squared distance, worked
  for (const Observation& seen : all_) {
    if (seen.sketch != sketch) continue;
    double squared = 0.0;
    for (size_t i = 0; i < x.size(); ++i) squared += (x[i] - seen.x[i]) * (x[i] - seen.x[i]);
    nearness.emplace_back(squared, seen.value.has_value());
  }
  double worked = static_cast<double>(all_.size() - failed_ + 1) / static_cast<double>(all_.size() + 2);
  double weights = 1.0;
  if (nearness.empty()) return worked;
  const size_t neighbour = std::min<size_t>(kNeighbours, nearness.size()) - 1;
  std::ranges::nth_element(nearness, nearness.begin() + static_cast<std::ptrdiff_t>(neighbour));
  const double width = std::max(nearness[neighbour].first, 1e-6);
  for (const auto& [squared, valid] : nearness) {
    const double weight = std::exp(-squared / width);
    weights += weight;
    if (valid) worked += weight;
  }
  return worked / weights;
}

double Observations::validity_of(const Candidate& candidate) const {
  if (failed_ == 0) return 1.0;
  const auto sketch = sketches_.find(sketch_key(candidate.trace));
  return sketch == sketches_.end() ? 1.0
                                   : validity(sketch->second, encode(candidate.points, candidate.trace));
}

}  // namespace tunesmith::bayesian
