#include "first_rows.h"

#include <algorithm>

namespace tunesmith::operators_onnx {
namespace {

using network::Node;

/// The known integers of an input.
std::optional<std::vector<int64_t>> known(const network::Expansion& of, const Node& node, size_t input) {
  if (input >= node.inputs.size() || node.inputs[input] == kAbsent) return std::nullopt;
  const Constant* values = of.values(node.inputs[input]);
  return values ? std::optional(integer_elements(*values)) : std::nullopt;
}

/// The end of a Slice of the first axis alone that begins at the first row.
std::optional<int64_t> end_of_slice(const network::Expansion& of, const Node& node) {
  constexpr int64_t kVersionOfInputs = 10;
  const auto starts = known(of, node, 1), ends = known(of, node, 2), axes = known(of, node, 3);
  const bool has_steps = node.inputs.size() > 4 && node.inputs[4] != kAbsent;
  if (node.version < kVersionOfInputs || !starts || !ends || !axes || *starts != std::vector<int64_t>{0} ||
      *axes != std::vector<int64_t>{0} || ends->size() != 1 || ends->front() < 0 ||
      (has_steps && known(of, node, 4) != std::vector<int64_t>{1}))
    return std::nullopt;
  return ends->front();
}

/// Are the node's rows those of this input, each computed of one?
bool keeps_rows(const network::Expansion& of, const Node& node, size_t input) {
  if (node.op == "Identity" || node.op == "Cast") return true;
  if (node.op == "If") return node.bodies.empty() && input > 0;
  if (input != 0) return false;
  if (node.op == "Gather") {
    const auto axis = node.attributes.find("axis");
    return axis != node.attributes.end() && std::get<int64_t>(axis->second) > 0;
  }
  if (node.op == "Squeeze") {
    const auto axes = known(of, node, 1);
    return axes && std::ranges::all_of(*axes, [](int64_t axis) { return axis > 0; });
  }
  return false;
}

/// The outputs of a node whose rows are those of this input.
std::vector<TensorIndex> outputs_of(const Node& node, size_t input) {
  if (node.op != "If") return node.outputs;
  return {node.outputs.at((input - 1) % node.outputs.size())};  // the branches' results, one after the other
}

}  // namespace

std::optional<int64_t> first_rows_read(const network::Expansion& of, TensorIndex output) {
  std::vector<TensorIndex> open{output};
  int64_t most = 0;
  while (!open.empty()) {
    const TensorIndex tensor = open.back();
    open.pop_back();
    const auto readers = of.readers(tensor);
    if (!readers) return std::nullopt;
    for (const Node* node : *readers) {
      for (size_t i = 0; i < node->inputs.size(); ++i) {
        if (node->inputs[i] != tensor) continue;
        const auto end = node->op == "Slice" && i == 0 ? end_of_slice(of, *node) : std::nullopt;
        if (end) {
          most = std::max(most, *end);
        } else if (keeps_rows(of, *node, i)) {
          const auto outputs = outputs_of(*node, i);
          open.insert(open.end(), outputs.begin(), outputs.end());
        } else {
          return std::nullopt;
        }
      }
    }
  }
  return most;
}

}  // namespace tunesmith::operators_onnx
