// Mistakes that are only visible at the ends of a type's range (mutate.h).
#pragma once

#include <functional>
#include <vector>

#include "tunesmith/verification/mutate.h"

namespace tunesmith {

/// One change for each place of `store` where `mutation` is possible; none for other kinds of mistakes.
void collect_range_mistakes(const Program& program, Store& store, Mutation mutation,
                            std::vector<std::function<void()>>& changes);

}  // namespace tunesmith
