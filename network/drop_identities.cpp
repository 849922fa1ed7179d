#include <algorithm>
#include <map>
#include <set>

#include "copy.h"
#include "joined.h"
#include "passes.h"

namespace tunesmith::network {
namespace {

bool is_identity(const Network& network, const Node& node) {
  if (node.inputs.empty() || node.inputs[0] == kAbsent) return false;
  const NodeInput input = input_of(network.tensor(node.inputs[0]));
  const auto present =
      std::ranges::count_if(node.outputs, [](TensorIndex output) { return output != kAbsent; });
  if (present != 1 || node.outputs[0] == kAbsent) return false;
  const Computation computation = define(node, inputs_of(network, node)).computation;
  return computation.outputs[0].shape == input.type.shape &&
         computation.outputs[0].dtype == input.type.dtype && computation.outputs[0].code == input.type.code &&
         computation.compute == copy_statement(input.type.shape);
}

/// Drops identities in order; each node's inputs are renamed before it is looked at.
class Dropper {
 public:
  Dropper(Network& network, const std::set<std::string>& stay)
      : network_(network), stay_(stay), results_(network.outputs.begin(), network.outputs.end()) {}

  void run() {
    for (Node& node : network_.nodes) {
      for (TensorIndex& input : node.inputs) input = now(input);
      if (!stay_.contains(node.name) && is_identity(network_, node) && bypass(node)) continue;
      for (const TensorIndex output : node.outputs) producers_[output] = kept_.size();
      kept_.push_back(std::move(node));
    }
    network_.nodes = std::move(kept_);
  }

 private:
  TensorIndex now(TensorIndex tensor) const {
    for (auto found = renamed_.find(tensor); found != renamed_.end(); found = renamed_.find(tensor))
      tensor = found->second;
    return tensor;
  }

  /// Removes the identity. If its output is a result of the network, its producer computes the result
  /// instead; returns false if that is impossible.
  bool bypass(const Node& node) {
    const TensorIndex input = node.inputs[0], output = node.outputs[0];
    if (!results_.contains(output)) {
      renamed_[output] = input;
      return true;
    }
    const auto producer = producers_.find(input);
    if (results_.contains(input) || producer == producers_.end()) return false;
    std::ranges::replace(kept_[producer->second].outputs, input, output);
    for (Node& earlier : kept_) std::ranges::replace(earlier.inputs, input, output);
    producers_[output] = producer->second;
    renamed_[input] = output;
    return true;
  }

  Network& network_;
  const std::set<std::string>& stay_;
  std::set<TensorIndex> results_;
  std::vector<Node> kept_;
  std::map<TensorIndex, size_t> producers_;  ///< index in kept_
  std::map<TensorIndex, TensorIndex> renamed_;
};

}  // namespace

void drop_identities(Network& network, const PassOptions& options) { Dropper(network, options.kept).run(); }

}  // namespace tunesmith::network
