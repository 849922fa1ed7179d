// Who reads what a node computes, and where the ways from it meet again.
#pragma once

#include <cstddef>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

class Reading {
 public:
  explicit Reading(const Network& network);

  /// Nodes, ascending, each once.
  const std::vector<size_t>& readers(size_t node) const { return readers_[node]; }
  /// The first node that every way from `node` to a result of the network passes; end() where there is none.
  size_t meeting_point(size_t node) const { return meeting_points_[node]; }
  /// What lies on the ways from `node` to its meeting point, that one included, ascending.
  std::vector<size_t> between(size_t node) const;
  /// Does the network's caller read it?
  bool is_result(size_t node) const { return is_result_[node]; }
  size_t end() const { return readers_.size(); }

 private:
  size_t common(size_t a, size_t b) const;

  std::vector<std::vector<size_t>> readers_;
  std::vector<bool> is_result_;
  std::vector<size_t> meeting_points_;  // the tree of post-dominators, whose root is end()
  std::vector<size_t> depths_;
};

}  // namespace tunesmith::network
