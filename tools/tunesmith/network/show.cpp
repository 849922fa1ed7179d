// `network show`.
#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/network/read_network.h>

#include "common/exit_codes.h"
#include "common/print_json.h"
#include "graph.h"
#include "network_json.h"
#include "output.h"
#include "tasks.h"

namespace tunesmith::cli {
namespace {

using network::Network;

std::vector<std::string> node_names(const TaskedNetwork& tasked, size_t region) {
  std::vector<std::string> names;
  for (const size_t node : tasked.nodes[region]) names.push_back(tasked.network.nodes[node].name);
  return names;
}

void print_kernels(const TaskedNetwork& tasked) {
  fmt::print(output(), "\n{} kernels a call, {} tasks\n", tasked.regions.size(), tasked.tasks.size());
  for (size_t i = 0; i < tasked.regions.size(); ++i) {
    const int64_t trips = trips_of(tasked, i);
    fmt::print(output(), "{:4}  task {:<3}  {}{}: {}\n", i + 1, tasked.task_of[i] + 1,
               title_of(tasked.regions[i].workload), trips > 1 ? fmt::format(", {} times", trips) : "",
               fmt::join(node_names(tasked, i), ", "));
  }
}

nlohmann::json kernels_json(const TaskedNetwork& tasked) {
  nlohmann::json kernels = nlohmann::json::array();
  for (size_t i = 0; i < tasked.regions.size(); ++i)
    kernels.push_back({{"task", tasked.task_of[i] + 1},
                       {"name", tasked.regions[i].workload.name},
                       {"trips", trips_of(tasked, i)},
                       {"nodes", node_names(tasked, i)}});
  return kernels;
}

}  // namespace

int run_network_show(const Common& common, const NetworkArguments& arguments) {
  if (arguments.dot && common.json)
    throw UserError("--dot and --json cannot be combined", "remove one of them");
  Session session(common);
  if (arguments.dot) {
    fmt::print(output(), "{}", to_dot(read_tasks(session, arguments)));
    return kDone;
  }
  const Network network =
      network::read_network(session.registry(), arguments.file, arguments.operators).network;
  require_known(network, dimensions_of(arguments.dimensions));
  nlohmann::json said = network_json(network);
  if (!common.json) fmt::print(output(), "{}", to_text(network));
  if (arguments.passes) {
    said["passes"] = nlohmann::json::array();
    const TaskedNetwork tasked =
        read_tasks(session, arguments, [&](const network::Pass& pass, const Network& after) {
          const nlohmann::json made = network_json(after);
          said["passes"].push_back({{"name", pass.name},
                                    {"summary", pass.summary},
                                    {"tensors", made["tensors"]},
                                    {"nodes", made["nodes"]}});
          if (!common.json)
            fmt::print(output(), "\npass {}: {}\n{}", pass.name, pass.summary, to_text(after));
        });
    said["kernels"] = kernels_json(tasked);
    if (!common.json) print_kernels(tasked);
  }
  if (common.json) print_json(said);
  return kDone;
}

}  // namespace tunesmith::cli
