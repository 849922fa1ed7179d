// Extents that depend on data, for fix_shapes.
#pragma once

#include <map>
#include <optional>

#include "joined.h"
#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Copies `from` to `to`, which has this count.
Node counted_node(std::string name, TensorIndex from, Count count, TensorIndex to);
/// Copies all elements of `from` to `to`, which has no count.
Node whole_node(std::string name, TensorIndex from, TensorIndex to);

/// The counts of tensors. Lives as long as the pass.
class Counting {
 public:
  explicit Counting(Network& network) : network_(network) {}

  std::optional<Count> of(TensorIndex tensor) const;

  /// Finds the counts of a node's results. A counted axis may pass through a node which computes elements
  /// along it independently of each other and of its extent. Throws UserError for other nodes.
  void pass_through(size_t node, const DefinedNode& defined);

  /// Makes the counts of the network's results further results (Network::counted).
  void give_counts();

 private:
  std::optional<size_t> axis_of(size_t node, const DefinedNode& defined, const Computation& longer,
                                size_t output) const;

  Network& network_;
  std::map<TensorIndex, Count> counts_;
};

}  // namespace tunesmith::network
