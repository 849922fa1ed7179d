// The readers of each node's results, and its post-dominator.
#pragma once

#include <cstddef>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

class DataFlow {
 public:
  explicit DataFlow(const Network& network);

  /// Nodes, ascending, without duplicates.
  const std::vector<size_t>& readers(size_t node) const { return readers_[node]; }
  /// The node that computes the tensor; end() if none does.
  size_t maker(TensorIndex tensor) const { return makers_[static_cast<size_t>(tensor)]; }
  /// The first node on every path from `node` to a result of the network; end() if there is none.
  size_t post_dominator(size_t node) const { return post_dominators_[node]; }
  /// The nodes on the paths from `node` to its post-dominator, ascending; the post-dominator is the last.
  std::vector<size_t> paths(size_t node) const;
  /// Does another node or the network's caller read the tensor?
  bool is_read(TensorIndex tensor) const { return is_read_[static_cast<size_t>(tensor)]; }
  /// Does the network's caller read a result of the node?
  bool is_result(size_t node) const { return is_result_[node]; }
  size_t end() const { return readers_.size(); }

 private:
  /// Tensors that enter or leave a loop or a trip must be in memory.
  void keep_what_passes(const Network& network, const Loop& loop);
  size_t common(size_t a, size_t b) const;

  std::vector<std::vector<size_t>> readers_;
  std::vector<size_t> makers_;           // by tensor
  std::vector<bool> is_read_;            // by tensor
  std::vector<bool> is_result_;          // by node
  std::vector<size_t> post_dominators_;  // a tree, whose root is end()
  std::vector<size_t> depths_;
};

}  // namespace tunesmith::network
