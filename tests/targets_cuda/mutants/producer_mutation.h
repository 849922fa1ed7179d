// Mistakes in programs whose producer copies boxes: in the barriers in memory between producer and consumers,
// and in the products that consumers leave under way. The kinds are "await" (for an arrival or a release),
// "arrival", "bytes" (expected of copies), "count" (of arrivals), "phase", "box", "product" (waited for, or
// committed) and "fence".
#pragma once

#include "mutation.h"

namespace tunesmith::testing {

bool is_of_producer(const std::string& kind);

/// All mutations of `text` that these rules find; without copies of boxes, only those of products and fences.
std::vector<Mutation> producer_mutations_of(const std::string& text);

}  // namespace tunesmith::testing
