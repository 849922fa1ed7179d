// The tasks of a network: what is tuned, and how often a call runs it.
#pragma once

#include <string>
#include <vector>

#include <tunesmith/network/form_regions.h>
#include <tunesmith/network/node_workload.h>

#include "commands.h"
#include "session.h"

namespace tunesmith::cli {

/// A network that is ready to be tuned and built.
struct TaskedNetwork {
  network::Network network;
  std::vector<network::NodeWorkload> regions;  // in the order of their calls
  std::vector<size_t> task_of;                 // of each region: a position in `tasks`
  std::vector<size_t> tasks;                   // regions of which no earlier one is equal
};

/// "conv_relu -> [1, 56, 56, 64]": several tasks may have one name.
std::string title_of(const Workload& workload);

/// Reads the file, runs all passes with the dimensions that were given, and forms regions. Throws UserError.
TaskedNetwork read_tasks(Session& session, const NetworkArguments& arguments);

}  // namespace tunesmith::cli
