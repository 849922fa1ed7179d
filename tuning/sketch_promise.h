// Chooses the sketch to draw next: those that gave fast programs more often.
#pragma once

#include <cstdint>
#include <limits>
#include <span>
#include <unordered_map>
#include <vector>

#include "tunesmith/search/candidate.h"
#include "tunesmith/support/random.h"
#include "tunesmith/trace/schedule.h"

namespace tunesmith {

class SketchPromise {
 public:
  explicit SketchPromise(std::span<const Schedule> sketches);

  /// Adds measured programs; ignores those of sketches outside this space.
  void add(std::span<const Measured> results);
  /// The index of a sketch.
  size_t choose(RandomStream& random) const { return random.categorical(weights_); }
  /// The weights for choosing sketches: the square of the expected share
  /// of the best speed, which is the share of the sketch's best program,
  /// shrunk towards the mean of all for sketches with few programs.
  const std::vector<double>& weights() const { return weights_; }

 private:
  struct Tally {
    int64_t programs = 0;
    double seconds = std::numeric_limits<double>::infinity();  // of the best
  };
  std::vector<double> compute_weights() const;

  std::unordered_map<uint64_t, size_t> index_of_;  // by sketch_key
  std::vector<Tally> tallies_;
  std::vector<double> weights_;  // one for each
};

}  // namespace tunesmith
