// A part of a tensor as a node, for passes that join tensors.
#pragma once

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// The elements [begin, begin + extent) along an axis of `whole`, as `part`.
Node slice_node(std::string name, TensorIndex whole, TensorIndex part, int64_t axis, int64_t begin,
                int64_t extent);

}  // namespace tunesmith::network
