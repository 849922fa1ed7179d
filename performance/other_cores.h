// What a store finds in another core's cache.
#pragma once

#include "store_facts.h"

namespace tunesmith::features {

/// Of what `facts` touches of `access`, the share that `earlier`, an access of the statement `before`,
/// touched on another core. Each core executes one piece of a parallel loop's iterations, in their order.
/// Where the earlier index cannot be inverted, as of cores that are chosen by chance.
double share_of_other_cores(const StoreFacts& before, const Access& earlier, const StoreFacts& facts,
                            const Access& access);

}  // namespace tunesmith::features
