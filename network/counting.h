// Extents that depend on data, for fix_shapes.
#pragma once

#include <map>
#include <optional>
#include <string>
#include <vector>

#include "counted_values.h"
#include "joined.h"
#include "same_values.h"
#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Copies `from` to `to`, which has this count.
Node counted_node(std::string name, TensorIndex from, Count count, TensorIndex to);
/// Copies `from`, also the elements that its count excludes, to `to`, which has no count.
Node whole_node(std::string name, TensorIndex from, TensorIndex to);

/// The counts of tensors. Lives as long as the pass.
class Counting {
 public:
  explicit Counting(Network& network) : network_(network), values_(network), same_(network) {}

  std::optional<Count> of(TensorIndex tensor) const;

  /// Finds the counts of a node's results. A counted axis may pass through a node which computes elements
  /// along it independently of each other and of its extent. Throws UserError for other nodes. Puts a counted
  /// copy in the place of a node whose result is constant. False if there are counts: then the results may
  /// not become constants, whose elements all exist.
  bool pass_through(size_t node, const DefinedNode& defined);

  /// Gives the node, which needs the values of an input in advance, those of the highest counts; false if the
  /// input is not computed of counts.
  bool give_highest(Node& node, size_t input) { return values_.stand_in(node, input); }

  /// Upper bounds of a tensor's values that are computed of counts; null if they are not known.
  const Constant* highest(TensorIndex tensor) const { return values_.highest(tensor); }

  /// Makes the counts of the network's results further results (Network::counted).
  void give_counts();

 private:
  /// A node's inputs with extents that depend on one count.
  struct Varied {
    TensorIndex by = kAbsent;
    int64_t bound = 0;
    size_t first = 0;                              ///< the first such input
    std::vector<std::optional<NodeInput>> longer;  ///< the inputs for one element more than the bound
    bool has_values = false;                       ///< one of them is a constant in the place of such values
    std::vector<std::optional<NodeInput>> of_one = {};  ///< the inputs for one element
  };

  std::optional<Varied> varied_inputs(const DefinedNode& defined) const;
  static bool follows_values(const DefinedNode& defined, const Computation& longer, const Varied& varied);
  std::optional<size_t> axis_of(size_t node, const DefinedNode& defined, const Computation& longer,
                                size_t output) const;
  static std::optional<size_t> constant_axis(const DefinedNode& defined, const Computation& longer,
                                             const Varied& varied);
  void count_constant(size_t node, const DefinedNode& defined, Count count);
  [[noreturn]] void refuse(const DefinedNode& defined, const Varied& varied, const std::string& why) const;

  Network& network_;
  std::map<TensorIndex, Count> counts_;
  CountedValues values_;
  SameValues same_;
};

}  // namespace tunesmith::network
