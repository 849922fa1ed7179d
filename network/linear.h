// Nodes that are linear in what they read.
#pragma once

#include <cstddef>
#include <optional>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// The position of the input that the node multiplies by, or divides by, one constant number, element by
/// element; nothing where it computes anything else.
std::optional<size_t> scaled_input(const Network& network, size_t node);

/// Is each element of the node's result a sum of products of one element of each of its two inputs?
bool is_product(const Network& network, size_t node);

}  // namespace tunesmith::network
