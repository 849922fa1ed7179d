// Samplings that most modules use: one of a list, and the tiles of a loop.
#pragma once

#include <cstdint>
#include <numeric>
#include <vector>

#include "tunesmith/stable/schedule.h"

namespace tunesmith {
inline namespace stable {

/// All choices are equally likely.
inline IntRV sample_one_of(Schedule& schedule, const std::vector<int64_t>& choices) {
  return schedule.sample_categorical(
      choices, std::vector<double>(choices.size(), 1.0 / static_cast<double>(choices.size())));
}

/// With probabilities proportional to the weights.
inline IntRV sample_weighted(Schedule& schedule, const std::vector<int64_t>& choices,
                             std::vector<double> weights) {
  const double sum = std::accumulate(weights.begin(), weights.end(), 0.0);
  for (double& weight : weights) weight /= sum;
  return schedule.sample_categorical(choices, weights);
}

/// The loops that a loop was split into, outermost first.
struct SampledTiles {
  std::vector<IntRV> factors;
  std::vector<LoopRV> loops;
};

/// Splits into `parts` loops with sampled extents that divide the loop; the last is at most `max_innermost`.
inline SampledTiles sample_tiles(Schedule& schedule, LoopRV loop, int64_t parts, int64_t max_innermost) {
  SampledTiles tiles;
  tiles.factors = schedule.sample_perfect_tile(loop, parts, max_innermost);
  tiles.loops = schedule.split(loop, {tiles.factors.begin(), tiles.factors.end()});
  return tiles;
}

}  // namespace stable
}  // namespace tunesmith
