// The tasks of a network: what is tuned, and how often a call runs it.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <map>
#include <set>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/varying.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// A network that is ready to be tuned and built. A region is one call of a kernel; regions of equal
/// workloads are one task, whose programs they share.
struct TaskedNetwork {
  Network network;
  std::vector<NodeWorkload> regions;       ///< in the order of their calls
  std::vector<std::vector<size_t>> nodes;  ///< of each region: positions in Network::nodes
  std::vector<size_t> task_of;             ///< of each region: a position in `tasks`
  std::vector<size_t> tasks;               ///< regions of which no earlier one is equal
  /// Where this is not empty, `network` has the highest extents, and the workloads are for ranges.
  std::vector<VaryingExtent> varying = {};
  std::map<TensorIndex, ShapeForm> forms = {};  ///< of the tensors that vary

  const Workload& workload(size_t task) const { return regions[tasks[task]].workload; }
};

/// `network`: all passes have run on it (run_passes). Forms its regions. Throws as form_regions and
/// region_workloads.
TaskedNetwork task_network(Network network);

/// Ranges of named extents; one of one value does not vary.
using Dimensions = std::map<std::string, ParamRange>;
/// The network at these values of its named extents, on which all passes have run.
/// `kept`: as in PassOptions.
using MakeNetwork = std::function<Network(const std::map<std::string, int64_t>& dimensions,
                                          const std::set<std::string>& kept)>;

/// One network for all values of the ranges. It is made at several values: its regions must be the same, and
/// integers in their texts that differ affine in the extents. Throws UserError with the extent and the node
/// that cannot vary.
TaskedNetwork task_network(const MakeNetwork& make, const Dimensions& dimensions);

/// The network and its workloads with fixed extents.
TaskedNetwork at_values(const TaskedNetwork& tasked, std::span<const int64_t> values);

/// The values at which a library is verified: those at which it is timed, both ends, a prime and a drawn one;
/// a single empty list where nothing varies.
std::vector<std::vector<int64_t>> values_to_verify(std::span<const VaryingExtent> varying);

/// How often a call runs the region.
int64_t trips_of(const TaskedNetwork& tasked, size_t region);

/// How often a call runs each task.
std::vector<int64_t> counts_of(const TaskedNetwork& tasked);

/// "conv_relu -> [1, 56, 56, 64]": several tasks may have one name.
std::string title_of(const Workload& workload);

/// Of the task's kernel in the library: a C identifier, another one for each task.
std::string kernel_symbol(const TaskedNetwork& tasked, size_t task);

/// Of all that a library is built of but its kernels: equal for networks with equal values, regions and
/// order. 64 digits.
std::string network_hash(const TaskedNetwork& tasked);

/// The names of extents that are no numbers: of all tensors.
std::set<std::string> open_extents(const Network& network);
/// Of the inputs alone: what else has no value follows from these.
std::set<std::string> extents_to_give(const Network& network);

}  // namespace tunesmith::network
#pragma GCC visibility pop
