// Nodes that take the place of a node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "reader.h"

namespace tunesmith::operators_onnx {

using network::kAbsent;
using network::TensorIndex;

/// Adds nodes of ONNX's operators; lives during one Expand.
class Graph {
 public:
  using Attributes = std::map<std::string, network::Attribute>;

  explicit Graph(network::Expansion& to) : to_(to) {}

  /// The only output of a node, or the first of several.
  TensorIndex add(const std::string& op, std::vector<TensorIndex> inputs, Attributes attributes = {});
  std::vector<TensorIndex> add_all(const std::string& op, std::vector<TensorIndex> inputs,
                                   Attributes attributes, size_t outputs, int64_t version = kVersion);
  TensorIndex integers(const std::vector<int64_t>& values);
  TensorIndex integer(int64_t value);
  TensorIndex number(DType dtype, double value);
  TensorIndex truth(bool value);

  /// The part from `begin` on, before `end`, of an axis.
  TensorIndex slice(TensorIndex of, int64_t axis, int64_t begin, int64_t end);
  /// What stands at a place of an axis, which is not there any more.
  TensorIndex take(TensorIndex of, int64_t axis, int64_t place);
  TensorIndex unsqueeze(TensorIndex of, int64_t axis);
  TensorIndex concat(std::vector<TensorIndex> parts, int64_t axis);
  /// All along a new axis.
  TensorIndex stack(const std::vector<TensorIndex>& parts, int64_t axis);
  TensorIndex reshape(TensorIndex of, const std::vector<int64_t>& shape);
  TensorIndex transpose(TensorIndex of, const std::vector<int64_t>& order);
  TensorIndex cast(TensorIndex of, DType to);

  network::Expansion& expansion() { return to_; }

 private:
  static constexpr int64_t kVersion = 18;

  network::Expansion& to_;
};

}  // namespace tunesmith::operators_onnx
