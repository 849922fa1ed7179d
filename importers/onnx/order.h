// Orders nodes so that each comes after its inputs.
#pragma once

#include <tunesmith/network/network.h>

#include "faults.h"

namespace tunesmith::onnx_reader {

/// Keeps the file's order if valid; otherwise takes the first
/// possible node of the file each time. Cycles are faults.
void order_nodes(network::Network& network, Faults& faults);

}  // namespace tunesmith::onnx_reader
