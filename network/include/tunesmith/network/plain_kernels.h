// Unscheduled kernels of regions: correct, and quick to compile.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <string>
#include <vector>

#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/network.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/plan_library.h"
#include "tunesmith/target/target.h"

#pragma GCC visibility push(default)
namespace tunesmith::network {

/// Compiles equal workloads once. Not thread-safe.
class PlainKernels {
 public:
  explicit PlainKernels(Target& target) : target_(target) {}

  /// Lives as long as this object. Throws LowerError if the target refuses the unscheduled program, and Error
  /// if it does not compile.
  const CompiledKernel& of(const Workload& workload);

  /// The kernels of all regions with their prepared memory, for plan_library.
  std::vector<RegionKernel> of(const Network& network, std::span<const NodeWorkload> regions);

 private:
  Target& target_;
  std::map<uint64_t, CompiledKernel> kernels_;  // by the workload's hash
};

/// The workloads of all regions of a network. Throws InternalError if a region reads a tensor that no region
/// computes.
std::vector<NodeWorkload> region_workloads(const Network& network, std::span<const Region> regions);

}  // namespace tunesmith::network
#pragma GCC visibility pop
