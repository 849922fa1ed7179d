// Element-wise operators by threads, each with several vector accesses in flight.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <tunesmith/stable/schedule.h>
#include <tunesmith/tiling/thread_places.h>

#include "reductions.h"

namespace tunesmith {

struct ThreadChoices {
  std::vector<int64_t> threads;  // per block
  std::vector<int64_t> vectors;  // per thread, at a distance of the block's threads
};

/// One loop over all elements: blocks, of neighbouring threads with vectors of neighbouring elements.
StreamSketch stream_elementwise_in_threads(const Schedule& schedule, const std::string& block,
                                           const ThreadPlaces& places, const ThreadChoices& choices);

}  // namespace tunesmith
