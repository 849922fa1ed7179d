#include "tunesmith/network/tasks.h"

#include <map>
#include <utility>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "tasks/find_tasks.h"
#include "tunesmith/ir/printer.h"
#include "tunesmith/network/form_regions.h"
#include "tunesmith/network/plain_kernels.h"
#include "tunesmith/support/hash.h"

namespace tunesmith::network {
namespace {

void add_names(const Tensor& tensor, std::set<std::string>& names) {
  if (!tensor.shape) return;
  for (const Extent& extent : *tensor.shape)
    if (const auto* name = std::get_if<std::string>(&extent)) names.insert(*name);
}

}  // namespace

void find_tasks(TaskedNetwork& tasked) {
  std::map<uint64_t, size_t> known;
  tasked.tasks.clear();
  tasked.task_of.clear();
  for (size_t i = 0; i < tasked.regions.size(); ++i) {
    const auto [found, is_new] = known.emplace(tasked.regions[i].workload.hash, tasked.tasks.size());
    if (is_new) tasked.tasks.push_back(i);
    tasked.task_of.push_back(found->second);
  }
}

TaskedNetwork task_network(Network network) {
  TaskedNetwork tasked;
  tasked.network = std::move(network);
  const std::vector<Region> regions = form_regions(tasked.network);
  tasked.regions = region_workloads(tasked.network, regions);
  for (const Region& region : regions) tasked.nodes.push_back(region.nodes);
  find_tasks(tasked);
  return tasked;
}

int64_t trips_of(const TaskedNetwork& tasked, size_t region) {
  const Loop* loop = loop_of(tasked.network, tasked.nodes[region].back());
  return loop == nullptr ? 1 : loop->trips;
}

std::vector<int64_t> counts_of(const TaskedNetwork& tasked) {
  std::vector<int64_t> counts(tasked.tasks.size(), 0);
  for (size_t i = 0; i < tasked.task_of.size(); ++i) counts[tasked.task_of[i]] += trips_of(tasked, i);
  return counts;
}

std::string title_of(const Workload& workload) {
  const BufferNode& output = *workload.program.outputs.front();
  std::vector<std::string> extents;
  for (size_t d = 0; d < output.shape.size(); ++d) {
    const bool varies = !output.extents.empty() && output.extents[d];
    extents.push_back(varies ? to_string(output.extents[d]) : std::to_string(output.shape[d]));
  }
  return fmt::format("{} -> [{}]", workload.name, fmt::join(extents, ", "));
}

std::string kernel_symbol(const TaskedNetwork& tasked, size_t task) {
  return fmt::format("kernel_{}_{}", task + 1, tasked.workload(task).name);
}

std::string network_hash(const TaskedNetwork& tasked) {
  std::string text = to_text(tasked.network);
  for (const NodeWorkload& region : tasked.regions) text += fmt::format("{:016x}\n", region.workload.hash);
  return sha256_hex(text);
}

std::set<std::string> open_extents(const Network& network) {
  std::set<std::string> open;
  for (const Tensor& tensor : network.tensors) add_names(tensor, open);
  return open;
}

std::set<std::string> extents_to_give(const Network& network) {
  std::set<std::string> open;
  for (const TensorIndex input : network.inputs) add_names(network.tensor(input), open);
  return open;
}

}  // namespace tunesmith::network
