#include "repetition.h"

#include "joined.h"

namespace tunesmith::network {
namespace {

/// It has no statements: the body has them.
class RepeatOperator final : public Operator {
 public:
  Computation define(const NodeView& view) const override {
    const Repetition repetition = repetition_of(view.node);
    Computation made;
    for (size_t i = 0; i < repetition.body->outputs.size(); ++i) {
      const auto output = static_cast<size_t>(repetition.body->outputs[i]);
      TensorType type = input_of(repetition.body->tensors[output]).type;
      if (i >= repetition.carried) type.shape.insert(type.shape.begin(), repetition.trips);
      made.outputs.push_back(std::move(type));
    }
    return made;
  }
};

const RepeatOperator kRepeat;

}  // namespace

Node repeat_node(std::string name, const Repetition& repetition, std::vector<TensorIndex> inputs,
                 std::vector<TensorIndex> outputs) {
  return {std::move(name),
          "tunesmith.Repeat",
          1,
          {{"trips", repetition.trips},
           {"carried", static_cast<int64_t>(repetition.carried)},
           {"backwards", repetition.backwards}},
          std::move(inputs),
          std::move(outputs),
          &kRepeat,
          {{"body", repetition.body, {}}}};
}

bool is_repetition(const Node& node) { return node.definition == &kRepeat; }

Repetition repetition_of(const Node& node) {
  const auto integer = [&](const char* name) { return std::get<int64_t>(node.attributes.at(name)); };
  return {node.bodies.front().network, integer("trips"), static_cast<size_t>(integer("carried")),
          std::get<std::vector<int64_t>>(node.attributes.at("backwards"))};
}

void change_body(Node& node, const std::function<void(Network&)>& change) {
  auto body = std::make_shared<Network>(*node.bodies.front().network);
  change(*body);
  node.bodies.front().network = std::move(body);
}

void give_constants(const Network& network, Node& node) {
  const Repetition repetition = repetition_of(node);
  const size_t first = repetition.carried + sliced_inputs(repetition);
  change_body(node, [&](Network& body) {
    for (size_t i = body.inputs.size(); i-- > first;) {
      const auto& constant = network.tensor(node.inputs[i]).constant;
      if (!constant) continue;
      body.tensor(body.inputs[i]).constant = constant;
      body.inputs.erase(body.inputs.begin() + static_cast<std::ptrdiff_t>(i));
      node.inputs.erase(node.inputs.begin() + static_cast<std::ptrdiff_t>(i));
    }
  });
}

void drop_unread_outputs(Node& node) {
  const Repetition repetition = repetition_of(node);
  std::vector<int64_t> backwards = repetition.backwards;
  const size_t sliced = sliced_inputs(repetition);
  change_body(node, [&](Network& body) {
    for (size_t i = node.outputs.size(); i-- > repetition.carried;) {
      if (node.outputs[i] != kAbsent) continue;
      node.outputs.erase(node.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      body.outputs.erase(body.outputs.begin() + static_cast<std::ptrdiff_t>(i));
      backwards.erase(backwards.begin() + static_cast<std::ptrdiff_t>(sliced + i - repetition.carried));
    }
  });
  node.attributes["backwards"] = std::move(backwards);
}

}  // namespace tunesmith::network
