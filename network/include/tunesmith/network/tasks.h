// The tasks of a network, and how often a call runs each.
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

/// A network ready for tuning and building. A region is one kernel call; regions with equal workloads are one
/// task and share its programs.
struct TaskedNetwork {
  Network network;
  std::vector<NodeWorkload> regions;       ///< in the order of their calls
  std::vector<std::vector<size_t>> nodes;  ///< of each region: indices in Network::nodes
  std::vector<size_t> task_of;             ///< of each region: an index in `tasks`
  std::vector<size_t> tasks;               ///< the first region of each task
  /// If this is not empty, `network` has the highest extents, and the workloads are for ranges.
  std::vector<VaryingExtent> varying = {};
  std::map<TensorIndex, ShapeForm> forms = {};  ///< of the tensors whose shapes vary

  const Workload& workload(size_t task) const { return regions[tasks[task]].workload; }
};

/// Forms the regions of `network`, on which all passes have run (run_passes). Throws as form_regions and
/// region_workloads.
TaskedNetwork task_network(Network network);

/// Ranges of named extents; a range of one value does not vary.
using Dimensions = std::map<std::string, ParamRange>;
/// Makes the network, with all passes run on it, for these values of its named extents. `kept`: see
/// PassOptions.
using MakeNetwork = std::function<Network(const std::map<std::string, int64_t>& dimensions,
                                          const std::set<std::string>& kept)>;

/// Makes one network for all values of the ranges, from networks at several values: their regions must be the
/// same, and the integers that differ in their texts must be affine in the extents. Throws UserError with the
/// extent and the node that cannot vary.
TaskedNetwork task_network(const MakeNetwork& make, const Dimensions& dimensions);

/// The network and its workloads with fixed extents.
TaskedNetwork at_values(const TaskedNetwork& tasked, std::span<const int64_t> values);

/// The values at which a library is verified: the typical ones, both ends, a prime and a random one; a single
/// empty list if nothing varies.
std::vector<std::vector<int64_t>> values_to_verify(std::span<const VaryingExtent> varying);

/// How often a call runs the region.
int64_t trips_of(const TaskedNetwork& tasked, size_t region);

/// How often a call runs each task.
std::vector<int64_t> counts_of(const TaskedNetwork& tasked);

/// "conv_relu -> [1, 56, 56, 64]": distinguishes tasks with the same name.
std::string title_of(const Workload& workload);

/// The symbol of the task's kernel in the library: a C identifier, unique within the network.
std::string kernel_symbol(const TaskedNetwork& tasked, size_t task);

/// A hash of everything that a library is built from except its kernels: equal for networks with equal
/// values, regions and order. 64 digits.
std::string network_hash(const TaskedNetwork& tasked);

/// The named extents of all tensors.
std::set<std::string> open_extents(const Network& network);
/// The named extents of the inputs: they determine all others.
std::set<std::string> extents_to_give(const Network& network);

}  // namespace tunesmith::network
#pragma GCC visibility pop
