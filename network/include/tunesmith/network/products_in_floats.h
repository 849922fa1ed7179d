// Lists products of dequantized tensors that are not computed with integers.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/network/pass.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// One line for each product or convolution that reads dequantized tensors and that the pass
/// multiply_integers left unchanged: the node, and why. Call it directly after that pass.
std::vector<std::string> products_in_floats(const Network& network, const PassOptions& options);

}  // namespace tunesmith::network
#pragma GCC visibility pop
