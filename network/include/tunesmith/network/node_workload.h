// Nodes of a network as workloads.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// A workload that computes some nodes.
struct NodeWorkload {
  Workload workload;                 ///< its `definition` is generated text
  std::vector<TensorIndex> inputs;   ///< in the workload's order; constants are `constant: true` inputs
  std::vector<TensorIndex> outputs;  ///< in the workload's order
};

/// Joins the statements of the nodes at these indices of Network::nodes, in ascending order. The outputs are
/// the tensors that other nodes or the network's caller read. A scalar becomes an array of shape [1]. All
/// tensors must have known shapes (fix_shapes). Throws UserError, naming the node, if the workload language
/// refuses it.
NodeWorkload workload_of(const Network& network, std::span<const size_t> nodes);
/// The same with these results: nothing else reads the nodes' other outputs.
NodeWorkload workload_of(const Network& network, std::span<const size_t> nodes,
                         std::span<const TensorIndex> results);

}  // namespace tunesmith::network
#pragma GCC visibility pop
