// Replaces nodes by other nodes, for fix_shapes.
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

  /// Asks the node's operator. If it gives other nodes, `made` gets them, with unique names. `behind`: the
  /// nodes that may read its outputs.
  bool expand(const Node& node, const NodeView& view, const std::deque<Node>& behind,
              std::vector<Node>& made);

  /// Writes out the trips of a node that is_repetition. `why`: the reason why they are no loop.
  void unroll(const Node& node, const std::string& why, std::vector<Node>& made);

 private:
  class OfNode;

  std::string unique(const std::string& wanted);
  TensorIndex add_tensor(const std::string& name);

  Network& network_;
  std::set<std::string> names_;  ///< names of tensors and nodes; filled at the first expansion
  std::map<std::string, int64_t> numbers_;
  std::map<const Network*, std::map<TensorIndex, TensorIndex>> constants_;  ///< of bodies, each once
  std::vector<std::shared_ptr<const Network>> bodies_;                      ///< keeps the bodies alive
  size_t made_ = 0;
};

}  // namespace tunesmith::network
