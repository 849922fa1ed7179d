// From the kernels of a network's regions to the plan of its library.
#pragma once

#include <cstddef>
#include <string>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/tasks.h"
#include "tunesmith/network/write_library.h"
#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// One call: the kernel of a region's workload. Kernels of equal workloads are shared.
struct RegionKernel {
  std::string name;                  ///< for people
  std::vector<TensorIndex> inputs;   ///< in the workload's order
  std::vector<TensorIndex> outputs;  ///< in the workload's order
  const CompiledKernel* kernel = nullptr;
  /// What the kernel's preparation has made of the region's constants; empty where there is none.
  std::vector<std::byte> prepared;
};

/// Runs the kernel's preparation on the constants of its region, in this process, on one thread. Empty where
/// the kernel prepares nothing. The target's code runs here: it must have been verified.
std::vector<std::byte> prepare(const Network& network, const NodeWorkload& workload,
                               const CompiledKernel& kernel, Target& target);

/// Names and types of tensors, as a library takes them. Throws UserError where a type or shape is not known.
std::vector<LibraryArgument> arguments_of(const Network& network, const std::vector<TensorIndex>& tensors);

/// The kernels in the order of their calls. Tensors between them lie in the call's memory as plan_memory
/// says, with each kernel's workspace; what the caller gives or gets is read and written where it is. The
/// plan's weights are the network's constants and `kernels`' prepared memory, which must outlive it. Throws
/// UserError where a result is an input or a constant, which no kernel writes (the pass copy_results).
LibraryPlan plan_library(const Network& network, const std::vector<RegionKernel>& kernels,
                         const std::string& name);
/// The same of one whose extents may vary: memory is for the highest.
LibraryPlan plan_library(const TaskedNetwork& tasked, const std::vector<RegionKernel>& kernels,
                         const std::string& name);

}  // namespace tunesmith::network
#pragma GCC visibility pop
