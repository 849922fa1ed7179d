// Builds nodes that replace a node.
#pragma once

#include <map>
#include <string>
#include <vector>

#include "registry.h"

namespace tunesmith::operators_onnx {

using network::kAbsent;
using network::TensorIndex;

/// Adds nodes of ONNX's operators; lives during one Expand.
class Graph {
 public:
  using Attributes = std::map<std::string, network::Attribute>;

  explicit Graph(network::Expansion& to) : to_(to) {}

  /// Adds a node and returns its first output.
  TensorIndex add(const std::string& op, std::vector<TensorIndex> inputs, Attributes attributes = {});
  std::vector<TensorIndex> add_all(const std::string& op, std::vector<TensorIndex> inputs,
                                   Attributes attributes, size_t outputs, int64_t version = kVersion);
  TensorIndex integers(const std::vector<int64_t>& values);
  TensorIndex integer(int64_t value);
  /// 0, 1, ..., `end` - 1.
  TensorIndex range(int64_t end);
  TensorIndex number(DType dtype, double value);
  TensorIndex truth(bool value);

  TensorIndex sequence(std::vector<TensorIndex> elements) { return to_.make_sequence(std::move(elements)); }

  /// The part of an axis from `begin` to before `end`.
  TensorIndex slice(TensorIndex of, int64_t axis, int64_t begin, int64_t end);
  /// The elements at one place of an axis, without that axis.
  TensorIndex take(TensorIndex of, int64_t axis, int64_t place);
  TensorIndex unsqueeze(TensorIndex of, int64_t axis);
  TensorIndex concat(std::vector<TensorIndex> parts, int64_t axis);
  /// Joins `parts` along a new axis.
  TensorIndex stack(const std::vector<TensorIndex>& parts, int64_t axis);
  TensorIndex reshape(TensorIndex of, const std::vector<int64_t>& shape);
  TensorIndex transpose(TensorIndex of, const std::vector<int64_t>& order);
  TensorIndex cast(TensorIndex of, DType to);

  network::Expansion& expansion() { return to_; }

 private:
  static constexpr int64_t kVersion = 18;

  network::Expansion& to_;
};

/// Replaces nodes by those that `make` adds; it returns the tensor for the first output.
Expand giving(std::function<TensorIndex(const NodeReader& node, Graph& graph)> make);

}  // namespace tunesmith::operators_onnx
