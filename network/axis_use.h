// Analyses whether a node does the same for every element along an axis of its result.
#pragma once

#include <cstddef>
#include <optional>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// For each input of the node: the axis that corresponds to the given axis of the result; nothing if every
/// element along that axis reads the input at the same place, or where other inputs say.
using AxisUse = std::vector<std::optional<size_t>>;

/// If there is an AxisUse, concatenating the results of two such nodes along the axis equals applying the
/// node to concatenated inputs. Nothing if elements along the axis are not independent, or differ in more
/// than where they read. `output`: the result.
std::optional<AxisUse> axis_use(const Network& network, size_t node, size_t axis, TensorIndex output);
/// The same for a node with one output; nothing for others.
std::optional<AxisUse> axis_use(const Network& network, size_t node, size_t axis);

}  // namespace tunesmith::network
