// RNN, GRU and LSTM of many steps.
#include <algorithm>

#include "graph.h"
#include "recurrent.h"

namespace tunesmith::operators_onnx {
namespace {

class Chunks {
 public:
  Chunks(const NodeReader& node, network::Expansion& to, size_t states)
      : node_(node), to_(to), graph_(to), states_(states) {
    time_ = node.version() >= 14 && node.flag("layout", false) ? 1 : 0;
    steps_ = node.shape(0).at(static_cast<size_t>(time_));
  }

  void replace() {
    const std::string direction = node_.text("direction", "forward");
    const bool is_both = direction == "bidirectional";
    std::vector<std::vector<TensorIndex>> of_directions;
    for (int64_t i = 0; i < (is_both ? 2 : 1); ++i)
      of_directions.push_back(run(is_both ? i : -1, is_both ? i == 1 : direction == "reverse"));
    for (size_t output = 0; output <= states_; ++output) {
      if (!node_.wants(output)) continue;
      std::vector<TensorIndex> parts;
      for (const auto& outputs : of_directions) parts.push_back(outputs[output]);
      const int64_t axis = output == 0 ? (time_ == 0 ? 1 : 2) : (time_ == 0 ? 0 : 1);
      to_.give(output, graph_.concat(std::move(parts), axis));
    }
    for (const auto& [name, value] : node_.node().attributes) node_.ignore(name);
  }

 private:
  /// The part of an input that is one direction's.
  TensorIndex of_direction(size_t input, int64_t direction, int64_t axis) {
    if (!node_.has(input)) return kAbsent;
    const TensorIndex whole = node_.node().inputs[input];
    return direction < 0 ? whole : graph_.slice(whole, axis, direction, direction + 1);
  }

  /// The outputs of one direction.
  std::vector<TensorIndex> run(int64_t direction, bool is_reverse) {
    const int64_t state_axis = time_ == 0 ? 0 : 1;
    std::vector<TensorIndex> inputs(8, kAbsent);
    for (const size_t weights : {1, 2, 3, 7}) inputs[weights] = of_direction(weights, direction, 0);
    for (const size_t state : {5, 6}) inputs[state] = of_direction(state, direction, state_axis);
    if (states_ == 1) inputs.resize(6);
    std::vector<TensorIndex> all;
    const int64_t count = (steps_ + kMaxSteps - 1) / kMaxSteps;
    for (int64_t chunk = 0; chunk < count; ++chunk) {
      const int64_t begin = (is_reverse ? count - 1 - chunk : chunk) * kMaxSteps;
      const int64_t end = std::min(steps_, begin + kMaxSteps);
      inputs[0] = graph_.slice(node_.node().inputs[0], time_, begin, end);
      if (node_.has(4))
        inputs[4] = graph_.add("Sub", {node_.node().inputs[4], graph_.cast(graph_.integer(begin), kI32)});
      const std::vector<TensorIndex> made = graph_.add_all(
          node_.op(), inputs, attributes_of(direction, is_reverse), 1 + states_, node_.version());
      all.push_back(made[0]);
      for (size_t state = 0; state < states_; ++state) inputs[5 + state] = made[1 + state];
    }
    if (is_reverse) std::ranges::reverse(all);
    // Steps are the axis before the directions, or behind the batch.
    std::vector<TensorIndex> outputs{graph_.concat(std::move(all), time_)};
    for (size_t state = 0; state < states_; ++state) outputs.push_back(inputs[5 + state]);
    return outputs;
  }

  /// Of one direction its activations, and the numbers that they take of all.
  Graph::Attributes attributes_of(int64_t direction, bool is_reverse) const {
    Graph::Attributes attributes = node_.node().attributes;
    if (direction < 0) return attributes;
    attributes["direction"] = is_reverse ? "reverse" : "forward";
    const auto names = node_.texts("activations");
    if (!names) return attributes;
    const auto middle = names->begin() + static_cast<int64_t>(names->size() / 2);
    const std::vector<std::string> first(names->begin(), middle), second(middle, names->end());
    attributes["activations"] = direction == 0 ? first : second;
    for (const bool beta : {false, true}) {
      const char* name = beta ? "activation_beta" : "activation_alpha";
      const auto numbers = node_.numbers(name);
      if (!numbers) continue;
      const auto end =
          numbers->begin() + static_cast<int64_t>(std::min(numbers_taken(first, beta), numbers->size()));
      attributes[name] = direction == 0 ? std::vector<double>(numbers->begin(), end)
                                        : std::vector<double>(end, numbers->end());
      if (std::get<std::vector<double>>(attributes[name]).empty()) attributes.erase(name);
    }
    return attributes;
  }

  const NodeReader& node_;
  network::Expansion& to_;
  Graph graph_;
  size_t states_;
  int64_t time_ = 0, steps_ = 0;
};

}  // namespace

Expand in_steps_of_nodes(size_t states) {
  return [states](const NodeReader& node, network::Expansion& to) {
    const size_t time = node.version() >= 14 && node.flag("layout", false) ? 1 : 0;
    if (node.rank(0) != 3 || node.shape(0)[time] <= kMaxSteps) return false;
    Chunks(node, to, states).replace();
    return true;
  };
}

}  // namespace tunesmith::operators_onnx
