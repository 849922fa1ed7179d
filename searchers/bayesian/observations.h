// Observed points of the space, as the models see them.
#pragma once

#include <optional>
#include <unordered_map>
#include <vector>

#include <tunesmith/search/searcher.h>

#include "surrogate.h"

namespace tunesmith::bayesian {

struct Observation {
  CandidatePtr candidate;
  size_t sketch = 0;
  std::vector<double> x;
  std::optional<double> value;  // higher is better; nothing if it failed
};

/// The trust region of a sketch: the maximum number of decisions changed at once in its best program.
struct TrustRegion {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t best = kNone;  // index of the observation
  size_t radius = 1;
  int failures = 0;  // since the best was found, or since the radius was changed
};

/// Scales to mean 0 and deviation 1; equal values become 0.
void standardise(std::vector<double>& values);

/// Deterministic: only the sequence of observations matters, not how it is divided into calls.
class Observations {
 public:
  /// `patience`: after so many programs of a sketch without an improvement the radius is halved; an
  /// improvement doubles it.
  Observations(const std::vector<Schedule>& sketches, int64_t patience);

  /// Ignores programs of other spaces, which are no points of these sketches.
  void add(const CandidatePtr& candidate, std::optional<double> value);
  /// Adds the history's new programs, with the negative logarithm of the time as value.
  void add_new(const MeasuredHistory& history);

  const std::vector<Observation>& all() const { return all_; }
  const std::vector<TrustRegion>& regions() const { return regions_; }
  /// Indices of programs that worked, the best first.
  std::vector<size_t> best_first() const;
  /// Training samples: programs that worked, with values scaled to mean 0 and deviation 1; values worse than
  /// the best by more than `span` are clipped.
  std::vector<Sample> samples(double span) const;

  /// The probability that a program works: the share of working programs, weighted by nearness, with the
  /// overall share as a prior.
  double validity(size_t sketch, const std::vector<double>& x) const;
  /// The same for a candidate; 1 if it has none of the sketches.
  double validity_of(const Candidate& candidate) const;

 private:
  void adapt(TrustRegion& region, size_t observation);

  int64_t patience_;
  std::unordered_map<uint64_t, size_t> sketches_;  // by sketch_key()
  std::vector<TrustRegion> regions_;               // one for each sketch
  std::vector<Observation> all_;
  size_t failed_ = 0;
  size_t taken_in_ = 0;  // number of history entries added
};

}  // namespace tunesmith::bayesian
