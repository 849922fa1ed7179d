// Nodes of a network as workloads.
#pragma once

#include <span>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/workload/workload.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// One workload that computes what some nodes compute.
struct NodeWorkload {
  Workload workload;                 ///< its `definition` is a text of its own
  std::vector<TensorIndex> inputs;   ///< in the workload's order; constants are `constant: true` inputs
  std::vector<TensorIndex> outputs;  ///< in the workload's order
};

/// Joins the statements of the nodes at these positions of Network::nodes, in ascending order. Its outputs
/// are what other nodes or the network's caller read. A single value is an array of shape [1]. The shapes of
/// all tensors must be known (fix_shapes). Throws UserError that names the node which the workload language
/// refuses.
NodeWorkload workload_of(const Network& network, std::span<const size_t> nodes);
/// With these results: of what else the nodes compute, they alone read everything.
NodeWorkload workload_of(const Network& network, std::span<const size_t> nodes,
                         std::span<const TensorIndex> results);

}  // namespace tunesmith::network
#pragma GCC visibility pop
