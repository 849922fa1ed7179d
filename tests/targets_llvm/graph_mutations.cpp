#include "graph_mutations.h"

#include <algorithm>
#include <functional>
#include <map>

#include <fmt/format.h>

#include "tunesmith/network/evaluate.h"

namespace tunesmith::testing {
namespace {

using network::Attribute;
using network::kAbsent;
using network::Network;
using network::Node;
using network::TensorIndex;
using Integers = std::vector<int64_t>;

std::shared_ptr<const network::Constant> constant_of(const std::shared_ptr<Tensor>& values) {
  return std::make_shared<network::Constant>(
      network::Constant{values->dtype, values->shape, values->bytes, values});
}

class GraphMutator {
 public:
  explicit GraphMutator(const Network& network) : network_(network) {}

  std::vector<GraphMutation> run() {
    for (size_t i = 0; i < network_.nodes.size(); ++i) {
      swap_operands(i);
      drop_node(i);
      exchange_operator(i);
      change_numbers(i);
      change_axes(i);
      change_permutation(i);
      change_padding(i);
      shift_slice(i);
      read_others(i);
    }
    for (size_t i = 0; i < network_.tensors.size(); ++i) change_constant(i);
    exchange_results();
    return std::move(made_);
  }

 private:
  void add(const std::string& kind, const std::string& what, const std::function<void(Network&)>& change) {
    Network changed = network_;
    change(changed);
    made_.push_back({kind, what, std::move(changed)});
  }
  void add(const std::string& kind, size_t node, const std::string& what,
           const std::function<void(Node&)>& change) {
    add(kind, fmt::format("{} ({}): {}", network_.nodes[node].name, network_.nodes[node].op, what),
        [&](Network& changed) { change(changed.nodes[node]); });
  }

  bool varies(TensorIndex tensor) const {
    return tensor != kAbsent && network_.tensors[static_cast<size_t>(tensor)].constant == nullptr;
  }
  const std::string& name(TensorIndex tensor) const {
    return network_.tensors[static_cast<size_t>(tensor)].name;
  }

  void swap_operands(size_t node) {
    const std::vector<TensorIndex>& inputs = network_.nodes[node].inputs;
    if (inputs.size() < 2 || inputs[0] == inputs[1]) return;
    add("swapped operands", node, "the first two",
        [](Node& changed) { std::swap(changed.inputs[0], changed.inputs[1]); });
  }

  /// The node's readers read one of its inputs instead.
  void drop_node(size_t node) {
    const Node& dropped = network_.nodes[node];
    for (size_t i = 0; i < dropped.inputs.size(); ++i) {
      if (!varies(dropped.inputs[i])) continue;
      const bool residual = dropped.op == "Add";
      add(residual ? "dropped residual" : "dropped node", node, "all but " + name(dropped.inputs[i]),
          [&](Node& changed) {
            changed.op = "Identity";
            changed.inputs = {dropped.inputs[i]};
            changed.attributes.clear();
          });
    }
  }

  void exchange_operator(size_t node) {
    static const std::map<std::string, std::vector<std::string>> kOthers = {
        {"Add", {"Sub", "Mul"}},
        {"Sub", {"Add", "Div"}},
        {"Mul", {"Add", "Div"}},
        {"Div", {"Mul"}},
        {"Tanh", {"Sigmoid"}},
        {"Sigmoid", {"Tanh"}},
        {"Softmax", {"LogSoftmax"}},
        {"LogSoftmax", {"Softmax"}},
        {"Relu", {"Tanh"}},
        {"MaxPool", {"AveragePool"}},
        {"AveragePool", {"MaxPool"}},
        {"ReduceMax", {"ReduceMin", "ReduceMean"}},
        {"ReduceMean", {"ReduceSum", "ReduceMax"}},
        {"Exp", {"Abs"}},
        {"GlobalAveragePool", {"GlobalMaxPool"}},
        {"Elu", {"LeakyRelu"}},
        {"LeakyRelu", {"Elu"}}};
    const auto others = kOthers.find(network_.nodes[node].op);
    if (others == kOthers.end()) return;
    for (const std::string& other : others->second)
      add("wrong operator", node, other, [&](Node& changed) { changed.op = other; });
  }

  void change_numbers(size_t node) {
    for (const auto& [name, value] : network_.nodes[node].attributes) {
      const double* const number = std::get_if<double>(&value);
      if (number == nullptr) continue;
      const bool epsilon = name == "epsilon";
      for (const double factor : {0.1, 2.0})
        add(epsilon ? "wrong epsilon" : "wrong number", node, fmt::format("{} times {}", name, factor),
            [&, key = name](Node& changed) { changed.attributes[key] = *number * factor; });
    }
  }

  void change_axes(size_t node) {
    for (const auto& [name, value] : network_.nodes[node].attributes) {
      if (name == "axis") {
        const int64_t axis = std::get<int64_t>(value);
        add("wrong axis", node, "the one before",
            [&](Node& changed) { changed.attributes["axis"] = axis - 1; });
      } else if (name == "axes") {
        add("wrong axis", node, "the ones before", [&](Node& changed) {
          for (int64_t& axis : std::get<Integers>(changed.attributes["axes"])) --axis;
        });
      } else if (name == "transB") {
        add("wrong axis", node, "the other transB",
            [&](Node& changed) { changed.attributes["transB"] = 1 - std::get<int64_t>(value); });
      }
    }
  }

  void change_permutation(size_t node) {
    const auto found = network_.nodes[node].attributes.find("perm");
    if (found == network_.nodes[node].attributes.end()) return;
    const auto& order = std::get<Integers>(found->second);
    for (size_t i = 0; i < order.size(); ++i) {
      for (size_t j = i + 1; j < order.size(); ++j) {
        add("wrong permutation", node, fmt::format("axes {} and {} exchanged", i, j), [&](Node& changed) {
          Integers& changed_order = std::get<Integers>(changed.attributes["perm"]);
          std::swap(changed_order[i], changed_order[j]);
        });
      }
    }
  }

  /// Moves one element of padding from the end to the beginning of each spatial axis.
  void change_padding(size_t node) {
    const auto found = network_.nodes[node].attributes.find("pads");
    if (found == network_.nodes[node].attributes.end()) return;
    const size_t rank = std::get<Integers>(found->second).size() / 2;
    for (size_t axis = 0; axis < rank; ++axis) {
      for (const int64_t shift : {1, -1}) {
        add("pad off by one", node, fmt::format("axis {} by {}", axis, shift), [&](Node& changed) {
          Integers& pads = std::get<Integers>(changed.attributes["pads"]);
          pads[axis] += shift;
          pads[rank + axis] -= shift;
        });
      }
    }
  }

  /// Shifts a slice by one.
  void shift_slice(size_t node) {
    if (network_.nodes[node].op != "Slice") return;
    for (const int64_t shift : {1, -1}) {
      add("slice off by one", network_.nodes[node].name, [&](Network& changed) {
        for (const size_t input : {size_t{1}, size_t{2}}) {
          const auto index = static_cast<size_t>(network_.nodes[node].inputs[input]);
          auto values = std::make_shared<Tensor>(to_tensor(*network_.tensors[index].constant));
          values->set_int(0, values->get_int(0) + shift);
          changed.tensors[index].constant = constant_of(values);
        }
      });
    }
  }

  /// Reads one of the last three tensors in the place of an input.
  void read_others(size_t node) {
    std::vector<TensorIndex> before = network_.inputs;
    for (size_t i = 0; i < node; ++i) before.push_back(network_.nodes[i].outputs[0]);
    if (before.size() > 3) before.erase(before.begin(), before.end() - 3);
    for (size_t i = 0; i < network_.nodes[node].inputs.size(); ++i) {
      if (!varies(network_.nodes[node].inputs[i])) continue;
      for (const TensorIndex other : before) {
        if (other == network_.nodes[node].inputs[i]) continue;
        add("wrong tensor", node, fmt::format("input {} is {}", i, name(other)),
            [&](Node& changed) { changed.inputs[i] = other; });
      }
    }
  }

  void replace_constant(const std::string& kind, const std::string& what, size_t index,
                        const std::function<void(Tensor&)>& change) {
    auto values = std::make_shared<Tensor>(to_tensor(*network_.tensors[index].constant));
    change(*values);
    add(kind, network_.tensors[index].name + ": " + what,
        [&](Network& changed) { changed.tensors[index].constant = constant_of(values); });
  }

  void change_constant(size_t index) {
    if (network_.tensors[index].constant == nullptr) return;
    const bool is_float = network_.tensors[index].dtype->is_float();
    const int64_t elements = network::element_count(network_.tensors[index].constant->shape);
    for (const int64_t at : {int64_t{0}, elements - 1}) {
      const std::string where = fmt::format("element {}", at);
      if (is_float) {
        replace_constant(
            "stale constant", where + " by a 64th of it and 1 / 1024", index,
            [&](Tensor& values) { values.set(at, values.get(at) * (1 + 1.0 / 64) + 1.0 / 1024); });
      } else {
        for (const int64_t step : {1, -1})
          replace_constant("index off by one", where, index,
                           [&](Tensor& values) { values.set_int(at, values.get_int(at) + step); });
      }
      if (elements == 1) break;
    }
    if (is_float && elements > 1)
      replace_constant("stale constant", "turned by one element", index, [&](Tensor& values) {
        std::ranges::rotate(values.bytes, values.bytes.begin() + values.dtype.bytes());
      });
  }

  void exchange_results() {
    if (network_.outputs.size() > 1)
      add("exchanged results", "the first two",
          [](Network& changed) { std::swap(changed.outputs[0], changed.outputs[1]); });
  }

  const Network& network_;
  std::vector<GraphMutation> made_;
};

}  // namespace

std::vector<GraphMutation> graph_mutations(const Network& network) { return GraphMutator(network).run(); }

}  // namespace tunesmith::testing
