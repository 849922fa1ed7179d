// Computes the cache traffic of a store's accesses.
#pragma once

#include <span>

#include "store_facts.h"

namespace tunesmith::features {

/// Computes traffic and runs of each access from `bytes_inside` and related fields. `earlier`: the preceding
/// stores in program order; data that they left in a cache is not loaded again.
void measure_traffic(StoreFacts& facts, std::span<const StoreFacts> earlier);

}  // namespace tunesmith::features
