// Estimates the share of a store's data that is in another core's cache.
#pragma once

#include "store_facts.h"

namespace tunesmith::features {

/// The share of the data of `access` in `facts` that `earlier`, an access of the statement `before`, accessed
/// on another core. Assumes that each core executes a contiguous piece of a parallel loop in order; if the
/// earlier index cannot be inverted, that the cores were random.
double share_of_other_cores(const StoreFacts& before, const Access& earlier, const StoreFacts& facts,
                            const Access& access);

}  // namespace tunesmith::features
