#include "tunesmith/network/plain_kernels.h"

#include <optional>
#include <set>

#include <fmt/format.h>

#include "tunesmith/support/error.h"

namespace tunesmith::network {

const CompiledKernel& PlainKernels::of(const Workload& workload) {
  const auto found = kernels_.find(workload.hash);
  if (found != kernels_.end()) return found->second;
  LowerOptions options = lower_options_of(target_);
  options.prepare = target_.can_prepare();
  auto kernel = target_.compile(lower(workload.program, options, target_.pipeline()),
                                fmt::format("kernel_{:016x}", workload.hash));
  if (!kernel) throw Error(fmt::format("{} does not compile: {}", workload.name, kernel.error()));
  return kernels_.emplace(workload.hash, *std::move(kernel)).first->second;
}

std::vector<RegionKernel> PlainKernels::of(const Network& network, std::span<const NodeWorkload> regions) {
  std::vector<RegionKernel> kernels;
  for (const NodeWorkload& region : regions) {
    const CompiledKernel& kernel = of(region.workload);
    kernels.push_back({region.workload.name, region.inputs, region.outputs, &kernel,
                       prepare(network, region, kernel, target_)});
  }
  return kernels;
}

std::vector<NodeWorkload> region_workloads(const Network& network, std::span<const Region> regions) {
  const auto whole_of = [&](TensorIndex tensor) {
    const std::optional<Part>& part = network.tensor(tensor).part;
    return part ? part->whole : tensor;
  };
  std::vector<NodeWorkload> made;
  std::set<TensorIndex> known(network.inputs.begin(), network.inputs.end());
  for (const Region& region : regions) {
    made.push_back(workload_of(network, region.nodes, region.results));
    for (const TensorIndex output : made.back().outputs) known.insert(whole_of(output));
  }
  for (const NodeWorkload& region : made) {
    for (const TensorIndex input : region.inputs)
      check_invariant(known.contains(whole_of(input)) || network.tensor(whole_of(input)).constant,
                      "a region reads what is given, computed or constant");
  }
  return made;
}

}  // namespace tunesmith::network
