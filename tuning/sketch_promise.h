// Which sketch is drawn next: those that gave fast programs more often.
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

  /// Programs that were measured; of a sketch that is not in this space, one says nothing.
  void add(std::span<const Measured> results);
  /// The index of a sketch.
  size_t choose(RandomStream& random) const { return random.categorical(weights_); }
  /// In proportion to which sketches are chosen: the square of what share of the best speed a sketch is
  /// expected to reach. That is the share that its best program reached, and of a sketch that few programs
  /// are known of rather the mean of all that are known.
  const std::vector<double>& weights() const { return weights_; }

 private:
  struct Tally {
    int64_t programs = 0;
    double seconds = std::numeric_limits<double>::infinity();  // of the best
  };
  std::vector<double> compute_weights() const;

  std::unordered_map<uint64_t, size_t> index_of_;  // by sketch_key
  std::vector<Tally> tallies_;
  std::vector<double> weights_;  // of these
};

}  // namespace tunesmith
