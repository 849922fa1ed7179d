// Operators with inputs or results whose extents depend on data (network::Count).
#pragma once

#include "graph.h"

namespace tunesmith::operators_onnx {

/// Attribute of a node that has its first input's count as its last input: the counted axis.
inline constexpr const char* kCountedAxis = "tunesmith.axis";

/// The tensor with a count. An extent of 1 is doubled, because it would be broadcast.
TensorIndex counted(network::Expansion& to, TensorIndex tensor, size_t axis, int64_t extent, TensorIndex by);
/// The positions of the elements of `mask`, of rank 1, that are not zero: [at least 2], counted.
TensorIndex positions_of(Graph& graph, TensorIndex mask);
/// Replaces NonZero by one that also counts the positions, and attaches the count to them.
bool count_nonzero(const NodeReader& node, network::Expansion& to);
/// NonZero of unknown values. Its second output is the number of positions, its second input the count of its
/// first, if that has one.
Computation nonzero_of_data(const NodeReader& node);

bool compress_by_data(const NodeReader& node, network::Expansion& to);

// These replace a node whose first input is counted; false for others.

bool shape_of_counted(const NodeReader& node, network::Expansion& to);
bool size_of_counted(const NodeReader& node, network::Expansion& to);
bool gather_of_counted(const NodeReader& node, network::Expansion& to);
/// Where the part's end is data, too.
bool slice_of_counted(const NodeReader& node, network::Expansion& to);
bool reshape_of_counted(const NodeReader& node, network::Expansion& to);
/// Whichever input is counted.
bool concat_of_counted(const NodeReader& node, network::Expansion& to);

}  // namespace tunesmith::operators_onnx
