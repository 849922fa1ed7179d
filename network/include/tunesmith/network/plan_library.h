// Plans a library from the kernels of a network's regions.
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

/// A call of the kernel of a region's workload. Equal workloads share a kernel.
struct RegionKernel {
  std::string name;                  ///< for people
  std::vector<TensorIndex> inputs;   ///< in the workload's order
  std::vector<TensorIndex> outputs;  ///< in the workload's order
  const CompiledKernel* kernel = nullptr;
  /// The output of the kernel's preparation of the region's constants; empty if it prepares nothing.
  std::vector<std::byte> prepared;
};

/// Runs the kernel's preparation on its region's constants, in this process, on one thread. Empty if it
/// prepares nothing. The kernel must have been verified, because the target's code runs here.
std::vector<std::byte> prepare(const Network& network, const NodeWorkload& workload,
                               const CompiledKernel& kernel, Target& target);

/// The names and types of tensors as a library takes them. Throws UserError if a type or shape is unknown.
std::vector<LibraryArgument> arguments_of(const Network& network, const std::vector<TensorIndex>& tensors);

/// Plans the calls of the kernels in this order. plan_memory places the tensors between them in the call's
/// memory, with each kernel's workspace; the caller's inputs and outputs are accessed directly. The weights
/// are the network's constants and the prepared memory of `kernels`, which must outlive the plan. Throws
/// UserError if a result is an input or a constant, which no kernel writes (pass copy_results).
LibraryPlan plan_library(const Network& network, const std::vector<RegionKernel>& kernels,
                         const std::string& name);
/// The same for a network whose extents may vary: memory is for the highest.
LibraryPlan plan_library(const TaskedNetwork& tasked, const std::vector<RegionKernel>& kernels,
                         const std::string& name);

}  // namespace tunesmith::network
#pragma GCC visibility pop
