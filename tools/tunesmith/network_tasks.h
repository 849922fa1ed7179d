// The tasks of a network: what is tuned, and how often a call runs it.
#pragma once

#include <cstdint>
#include <functional>
#include <set>
#include <string>
#include <vector>

#include <tunesmith/network/form_regions.h>
#include <tunesmith/network/node_workload.h>
#include <tunesmith/network/pass.h>

#include "commands.h"
#include "session.h"

namespace tunesmith::cli {

/// A network that is ready to be tuned and built.
struct TaskedNetwork {
  network::Network network;
  std::vector<network::NodeWorkload> regions;  // in the order of their calls
  std::vector<std::vector<size_t>> nodes;      // of each region: positions in Network::nodes
  std::vector<size_t> task_of;                 // of each region: a position in `tasks`
  std::vector<size_t> tasks;                   // regions of which no earlier one is equal
};

/// The names of extents that the inputs leave open; what else has no value follows from these.
std::set<std::string> extents_to_give(const network::Network& network);

/// How often a call runs each task.
std::vector<int64_t> counts_of(const TaskedNetwork& tasked);

/// "conv_relu -> [1, 56, 56, 64]": several tasks may have one name.
std::string title_of(const Workload& workload);

/// Reads the file, runs all passes with the dimensions that were given, and forms regions. `after`, where it
/// is given, sees what each pass has made. Throws UserError.
TaskedNetwork read_tasks(
    Session& session, const NetworkArguments& arguments,
    const std::function<void(const network::Pass&, const network::Network&)>& after = {});

}  // namespace tunesmith::cli
