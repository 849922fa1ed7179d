// Whether a node does the same for every element along an axis of its result.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// For each input of the node, the axis that follows the given axis of the result; nothing for an input that
/// is read at the same place for every element along it.
using AxisUse = std::vector<std::optional<size_t>>;

/// Of an axis of the result of a node that has one output and one statement: results of two such nodes side
/// by side along it are the result of one node whose inputs lie side by side. Nothing where elements along
/// the axis are not independent, or differ in more than where they read.
std::optional<AxisUse> axis_use(const Network& network, size_t node, size_t axis);

}  // namespace tunesmith::network
