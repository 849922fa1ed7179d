// Workloads from the statements of nodes.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/operator.h"

namespace tunesmith::network {

/// A node with what its operator says of it.
struct DefinedNode {
  const Node* node;
  std::vector<std::optional<NodeInput>> inputs;
  Computation computation;
};

/// Calls the operator. Throws as it does, with the node's name, and where it is not resolved.
DefinedNode define(const Node& node, std::vector<std::optional<NodeInput>> inputs);

/// "node 'conv1' (Conv@11)", as errors name it.
std::string describe(const Node& node);

/// What a tensor's type and values are, as far as they are known. Throws UserError where its type or shape is
/// not.
NodeInput input_of(const Tensor& tensor);
std::vector<std::optional<NodeInput>> inputs_of(const Network& network, const Node& node);

/// Then nothing computes it. False where its shape is not known.
bool has_no_elements(const Tensor& tensor);

/// A single value is an array of one element in a workload.
Shape array_shape(const Shape& shape);

/// A workload of all statements of these nodes. `is_output`: of what they compute, what is read elsewhere.
/// Nothing in `outputs` where all of that is constant. Throws UserError that names the first node.
/// `network`: whose tensors lie as they have it (Tensor::order, Tensor::part); a node's own arrays lie as
/// those of its tensors that have an order and as many axes. Without one all lie as their shapes say.
NodeWorkload join(const std::string& name, std::span<const DefinedNode> nodes,
                  const std::function<bool(TensorIndex)>& is_output, const Network* network = nullptr);

}  // namespace tunesmith::network
