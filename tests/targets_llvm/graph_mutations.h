// Mistakes in networks, as importers and passes could make them.
#pragma once

#include <string>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::testing {

struct GraphMutation {
  std::string kind;
  std::string what;  // description for people
  network::Network network;
};

/// Small networks, as importers make them, of the operators that can be mutated.
std::vector<network::Network> networks_to_mutate();

/// Each has one mistake; all places are covered. Some compute the same, some are refused.
std::vector<GraphMutation> graph_mutations(const network::Network& network);

}  // namespace tunesmith::testing
