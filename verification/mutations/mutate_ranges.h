// Mistakes that show only at the ends of a type's range (mutate.h).
#pragma once

#include <functional>
#include <vector>

#include "tunesmith/verification/mutate.h"

namespace tunesmith {

/// One change for each place of `store` where `mutation` can be made. Nothing for mistakes of other sorts.
void collect_range_mistakes(const Program& program, Store& store, Mutation mutation,
                            std::vector<std::function<void()>>& changes);

}  // namespace tunesmith
