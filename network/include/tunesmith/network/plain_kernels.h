// Kernels of regions as they are, without any schedule: right, and quickly had.
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

/// Equal workloads are compiled once. Used by one thread.
class PlainKernels {
 public:
  explicit PlainKernels(Target& target) : target_(target) {}

  /// Lives as long as this. Throws LowerError for what the target cannot take unscheduled, and Error where it
  /// does not compile.
  const CompiledKernel& of(const Workload& workload);

  /// Of each region with its prepared memory, for plan_library.
  std::vector<RegionKernel> of(const Network& network, std::span<const NodeWorkload> regions);

 private:
  Target& target_;
  std::map<uint64_t, CompiledKernel> kernels_;  // by the workload's hash
};

/// Of all regions of a network. Throws InternalError where one reads what none of them computes.
std::vector<NodeWorkload> region_workloads(const Network& network, std::span<const Region> regions);

}  // namespace tunesmith::network
#pragma GCC visibility pop
