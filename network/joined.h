// Builds workloads from the statements of nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/operator.h"

namespace tunesmith::network {

/// A node with its computation.
struct DefinedNode {
  const Node* node;
  std::vector<std::optional<NodeInput>> inputs;
  Computation computation;
};

/// Calls the operator. Throws its errors with the node's name, and an error if the node is not resolved.
DefinedNode define(const Node& node, std::vector<std::optional<NodeInput>> inputs);

/// "node 'conv1' (Conv@11)", as errors name it.
std::string describe(const Node& node);

/// The known type and values of a tensor. Throws UserError if its type or shape is unknown.
NodeInput input_of(const Tensor& tensor);
std::vector<std::optional<NodeInput>> inputs_of(const Network& network, const Node& node);

/// True if no node has to compute it. False if its shape is unknown.
bool has_no_elements(const Tensor& tensor);

/// A single value is an array of one element in a workload.
Shape array_shape(const Shape& shape);

/// Makes a workload of all statements of these nodes. `is_output`: is this computed tensor read elsewhere?
/// `outputs` is empty if all of these are constant. Throws UserError that names the first node. `network`:
/// gives tensors their layouts (Tensor::order, Tensor::part); a node's intermediate arrays get the order of
/// one of its tensors with as many axes. Without a network all layouts are row-major.
NodeWorkload join(const std::string& name, std::span<const DefinedNode> nodes,
                  const std::function<bool(TensorIndex)>& is_output, const Network* network = nullptr);

}  // namespace tunesmith::network
