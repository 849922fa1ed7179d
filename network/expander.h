// Puts other nodes in the place of nodes, for fix_shapes.
#pragma once

#include <deque>
#include <map>
#include <set>
#include <string>
#include <vector>

#include "tunesmith/network/operator.h"

namespace tunesmith::network {

/// Lives as long as the pass.
class Expander {
 public:
  explicit Expander(Network& network) : network_(network) {}

  /// Asks the node's operator. Where it has others, they are `made`, with names of their own.
  bool expand(const Node& node, const NodeView& view, std::vector<Node>& made);

  /// The trips of a node that is_repetition, one after the other. `why`: they are no loop.
  void unroll(const Node& node, const std::string& why, std::vector<Node>& made);

 private:
  class OfNode;

  std::string unique(const std::string& wanted);
  TensorIndex add_tensor(const std::string& name);

  Network& network_;
  std::set<std::string> names_;  ///< of tensors and nodes, once there is an expansion
  std::map<std::string, int64_t> numbers_;
  std::map<const Network*, std::map<TensorIndex, TensorIndex>> constants_;  ///< of bodies, each once
  std::vector<std::shared_ptr<const Network>> bodies_;                      ///< keeps them
  size_t made_ = 0;
};

}  // namespace tunesmith::network
