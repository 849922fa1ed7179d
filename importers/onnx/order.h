// Orders nodes so that each comes after its inputs.
#pragma once

#include <tunesmith/network/network.h>

#include "faults.h"

namespace tunesmith::onnx_reader {

/// Keeps the file's order if it is valid; otherwise always takes the file's first node whose inputs are
/// known. Reports cycles as faults.
void order_nodes(network::Network& network, Faults& faults);

}  // namespace tunesmith::onnx_reader
