// Estimates what a store finds in another core's cache.
#pragma once

#include "store_facts.h"

namespace tunesmith::features {

/// The share of the data accessed by `access` in `facts` that `earlier`, an access of the
/// statement `before`, accessed on another core. Each core executes a contiguous piece of a
/// parallel loop in order. If the earlier index cannot be inverted: as for randomly chosen cores.
double share_of_other_cores(const StoreFacts& before, const Access& earlier, const StoreFacts& facts,
                            const Access& access);

}  // namespace tunesmith::features
