// Mistakes in networks, as importers and passes could make them.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::testing {

struct GraphMutation {
  std::string kind;
  std::string what;  // for people
  network::Network network;
};

/// Small networks as importers make them, of the operators that mistakes are made in.
std::vector<network::Network> networks_to_mutate();

/// One mistake in each, at every place where it can be made. Some compute the same, some are refused.
std::vector<GraphMutation> graph_mutations(const network::Network& network);

}  // namespace tunesmith::testing
