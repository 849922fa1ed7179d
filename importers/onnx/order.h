// Nodes in an order in which each comes after what it reads.
#pragma once

#include <tunesmith/network/network.h>

#include "faults.h"

namespace tunesmith::onnx_reader {

/// The order of the file, where it is one; else of the nodes that may come next the first in the file. Nodes
/// that read each other in a circle are faults.
void order_nodes(network::Network& network, Faults& faults);

}  // namespace tunesmith::onnx_reader
