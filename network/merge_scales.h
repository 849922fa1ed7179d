// Fewer scales between integers and bytes.
#pragma once

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Divides what QuantizeLinear reads by its scale where that costs nothing: in the scales of DequantizeLinear
/// nodes and the constants that it is computed from by operators that commute with a factor. Its own scale
/// becomes 1. Limits beyond which the bytes saturate go away. Leaves nodes that nothing reads.
void merge_scales(Network& network);

}  // namespace tunesmith::network
