#include "fix_body.h"

#include <algorithm>

#include "joined.h"
#include "passes.h"
#include "repetition.h"

namespace tunesmith::network {
namespace {

/// Gives the body's inputs the node's types, or returns why the loop must be unrolled.
std::optional<std::string> give_types(const Network& network, const Node& node, const Repetition& repetition,
                                      Network& body) {
  for (size_t i = 0; i < node.inputs.size(); ++i) {
    const NodeInput given = input_of(network.tensor(node.inputs[i]));
    if (given.elements != nullptr) return "it reads a sequence";
    TensorType type = given.type;
    if (i >= repetition.carried && i < repetition.carried + sliced_inputs(repetition)) {
      if (type.shape.empty() || type.shape.front() != repetition.trips)
        throw UserError(describe(node) + ": an input has a different number of rows than iterations");
      type.shape.erase(type.shape.begin());
    }
    if (element_count(type.shape) == 0) return "it reads a tensor without elements";
    Tensor& inner = body.tensor(body.inputs[i]);
    inner.dtype = type.dtype;
    inner.code = type.code;
    inner.shape = std::vector<Extent>(type.shape.begin(), type.shape.end());
  }
  return std::nullopt;
}

/// Returns why loop-carried outputs cannot be the next trip's inputs, or nothing.
std::optional<std::string> check_results(const Network& body, size_t carried) {
  if (!body.counted.empty()) return "it yields tensors with data-dependent extents";
  const auto type_of = [&](TensorIndex tensor) { return input_of(body.tensor(tensor)); };
  for (size_t i = 0; i < body.outputs.size(); ++i) {
    const NodeInput after = type_of(body.outputs[i]);
    if (after.elements != nullptr || element_count(after.type.shape) == 0)
      return "it yields a sequence, or nothing";
    if (i >= carried) continue;
    const NodeInput before = type_of(body.inputs[i]);
    if (before.type.shape != after.type.shape || before.type.dtype != after.type.dtype ||
        before.type.code != after.type.code)
      return "a carried tensor changes shape or type";
  }
  if (std::ranges::any_of(body.nodes, is_repetition)) return "it contains a loop";
  return std::nullopt;
}

}  // namespace

std::optional<std::string> fix_body(const Network& network, Node& node, const PassOptions& options) {
  const Repetition repetition = repetition_of(node);
  if (repetition.trips <= kMaxTripsInLine) return "it has few iterations";
  Network body = *repetition.body;
  if (auto why = give_types(network, node, repetition, body)) return why;
  Node fixed = node;
  fixed.bodies.front().network = std::make_shared<Network>(std::move(body));
  give_constants(network, fixed);
  std::optional<std::string> why;
  try {
    change_body(fixed, [&](Network& inner) {
      fix_shapes(inner, options);
      why = check_results(inner, repetition.carried);
    });
  } catch (const UserError& error) {
    return error.what();  // in each trip the needed values may be known
  }
  if (!why) node = std::move(fixed);
  return why;
}

}  // namespace tunesmith::network
