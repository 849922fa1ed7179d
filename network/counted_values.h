// Shapes that are computed of counts, for fix_shapes.
#pragma once

#include <map>
#include <memory>
#include <optional>
#include <vector>

#include "joined.h"
#include "tunesmith/network/network.h"

namespace tunesmith::network {

/// Tensors of few integers: those that are affine in one count (a multiple plus a constant), and those that
/// do not decrease as counts grow. Lives as long as the pass.
class CountedValues {
 public:
  struct Values {
    TensorIndex by = kAbsent;                ///< the count
    int64_t bound = 0;                       ///< its highest value
    std::shared_ptr<const Constant> most;    ///< the values where the count is the bound
    std::shared_ptr<const Constant> one;     ///< where it is 1
    std::shared_ptr<const Constant> beyond;  ///< where it is one more than the bound
  };

  explicit CountedValues(Network& network) : network_(network) {}

  void add_count(TensorIndex by, int64_t bound);
  /// Knows the node's outputs if these are such values of such inputs. Outputs that are the same for all
  /// counts become constants.
  void derive(const DefinedNode& defined);

  /// Gives the node a constant in the place of such values; false if the input is none of these.
  bool stand_in(Node& node, size_t input);
  /// Upper bounds of a tensor's values, if these are few integers that do not decrease as counts grow; null
  /// for others.
  const Constant* highest(TensorIndex tensor) const;
  /// The values in whose place the constant is; null if it is no such constant.
  const Values* replaced_by(TensorIndex constant) const;

 private:
  struct Range {
    int64_t least, most;
  };

  const Values* of(TensorIndex tensor) const;
  void derive_affine(const DefinedNode& defined);
  void add_affine(TensorIndex tensor, Values values);
  /// Elements that are different for all counts make a constant.
  void derive_inequality(const DefinedNode& defined);
  /// Of each element the range over all counts; nothing if it is not affine in one.
  std::optional<std::vector<Range>> ranges_of(TensorIndex tensor, const Constant* constant) const;
  void derive_highest(const DefinedNode& defined);

  Network& network_;
  std::map<TensorIndex, Values> values_;
  std::map<TensorIndex, Values> stand_ins_;  // by the constants
  std::map<TensorIndex, std::shared_ptr<const Constant>> highest_;
};

}  // namespace tunesmith::network
