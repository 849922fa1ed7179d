#include "unique_name.h"

#include <algorithm>

#include <fmt/format.h>

namespace tunesmith::network {

std::string unique_name(const Network& network, const std::string& wanted) {
  const auto is_taken = [&](const std::string& name) {
    return std::ranges::find(network.tensors, name, &Tensor::name) != network.tensors.end() ||
           std::ranges::find(network.nodes, name, &Node::name) != network.nodes.end();
  };
  std::string name = wanted;
  for (int number = 2; is_taken(name); ++number) name = fmt::format("{}_{}", wanted, number);
  return name;
}

}  // namespace tunesmith::network
