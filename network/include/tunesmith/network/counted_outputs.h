// Results of a network whose extents depend on data.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/verification/tensor.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Is this result the count of others, which the network's file does not have?
bool is_count(std::span<const CountedOutput> counted, size_t output);

/// The results as the network's file has them: cut to their counts, which are left out. Throws Error for a
/// count that its bound excludes.
std::vector<tunesmith::Tensor> cut_to_counts(std::span<const CountedOutput> counted,
                                             std::vector<tunesmith::Tensor> outputs);

}  // namespace tunesmith::network
#pragma GCC visibility pop
