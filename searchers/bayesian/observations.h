// What is known of points of this space, as the models see it.
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
  std::optional<double> value;  // higher is better; nothing when it failed
};

/// How far from the best of a sketch is searched: the number of its decisions that are changed at once.
struct TrustRegion {
  static constexpr size_t kNone = static_cast<size_t>(-1);
  size_t best = kNone;  // of the observations
  size_t radius = 1;
  int failures = 0;  // seen since the best, or since the radius was changed
};

/// To mean 0 and deviation 1; equal values become 0.
void standardise(std::vector<double>& values);

/// Two that are told the same in other portions are the same.
class Observations {
 public:
  /// `patience`: programs of a sketch that are not better than its best before the radius is halved; one that
  /// is doubles it.
  Observations(const std::vector<Schedule>& sketches, int64_t patience);

  /// Programs of other spaces, which are no points of these sketches, are left out.
  void add(const CandidatePtr& candidate, std::optional<double> value);
  /// Takes in what is new in the history, by the negative logarithm of the time.
  void add_new(const MeasuredHistory& history);

  const std::vector<Observation>& all() const { return all_; }
  const std::vector<TrustRegion>& regions() const { return regions_; }
  /// Numbers of those that worked, the best first.
  std::vector<size_t> best_first() const;
  /// For the models: those that worked, with values of mean 0 and deviation 1, in which what is worse than
  /// the best by more than `span` counts as worse by that.
  std::vector<Sample> samples(double span) const;

  /// The probability that a program works: the share of those that did, each weighed by how near it is, with
  /// the share of all as a prior.
  double validity(size_t sketch, const std::vector<double>& x) const;
  /// Of a program of one of the sketches, else 1.
  double validity_of(const Candidate& candidate) const;

 private:
  void adapt(TrustRegion& region, size_t observation);

  int64_t patience_;
  std::unordered_map<uint64_t, size_t> sketches_;  // by sketch_key()
  std::vector<TrustRegion> regions_;               // one for each sketch
  std::vector<Observation> all_;
  size_t failed_ = 0;
  size_t taken_in_ = 0;  // of the history
};

}  // namespace tunesmith::bayesian
