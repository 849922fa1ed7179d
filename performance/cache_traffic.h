// What the accesses of a store bring into the caches.
#pragma once

#include <span>

#include "store_facts.h"

namespace tunesmith::features {

/// Fills the traffic and the runs of each access, whose `bytes_inside` and what goes with it are known.
/// `earlier`: the stores before it, in the program's order; what they left in a cache need not come again.
void measure_traffic(StoreFacts& facts, std::span<const StoreFacts> earlier);

}  // namespace tunesmith::features
