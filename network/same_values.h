// Finds tensors that are computed alike.
#pragma once

#include <map>
#include <string>
#include <tuple>
#include <vector>

#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Lives as long as the pass that appends nodes to the network.
class SameValues {
 public:
  explicit SameValues(const Network& network) : network_(network) {}

  /// The first tensor that is computed as this one is, of the same tensors or equal constants. `end`: the
  /// number of nodes that do not change any more.
  TensorIndex first(TensorIndex tensor, size_t end);

 private:
  using Key = std::tuple<std::string, int64_t, std::vector<TensorIndex>>;  // operator, version, inputs

  TensorIndex first_known(TensorIndex tensor);
  void add(size_t node);

  const Network& network_;
  size_t known_ = 0;                          // nodes
  std::map<TensorIndex, TensorIndex> first_;  // of those that are not the first
  std::map<std::tuple<std::string, Code, Shape>, std::vector<TensorIndex>> constants_;
  std::multimap<Key, size_t> nodes_;
};

}  // namespace tunesmith::network
