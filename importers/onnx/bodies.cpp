// Graphs that are attributes of nodes: the bodies of loops, the branches of If.
#include <algorithm>

#include <fmt/format.h>

#include "network_builder.h"
#include "order.h"
#include "proto.h"

namespace tunesmith::onnx_reader {

using network::kAbsent;
using network::TensorIndex;

void NetworkBuilder::read_body(Scope& scope, const std::string& attribute, const onnx::GraphProto& graph,
                               network::Node& node) {
  const std::string title = fmt::format("node '{}' ({}): attribute '{}'", node.name, node.op, attribute);
  if (scope.depth == kMaxFunctionDepth) {
    faults_.add(fmt::format("{}: it is a graph in more than {} others", title, kMaxFunctionDepth));
    return;
  }
  Level level;
  level.network.name = attribute;
  Scope inner;
  inner.level = &level;
  inner.prefix = scope.prefix;
  inner.versions = scope.versions;
  inner.attributes = scope.attributes;
  inner.function = scope.function;
  inner.user = scope.user;
  inner.depth = scope.depth + 1;
  inner.around = &scope;
  for (const auto& input : graph.input()) inner.own.insert(input.name());
  for (const auto& initializer : graph.initializer()) inner.own.insert(initializer.name());
  for (const auto& each : graph.node()) inner.own.insert(each.output().begin(), each.output().end());
  read_initializers(inner, graph);
  for (const auto& input : graph.input()) {
    level.network.inputs.push_back(tensor_in(inner, input.name()));
    mark_known(inner, level.network.inputs.back(), title);
  }
  for (const auto& each : graph.node()) read_node(inner, each);
  read_body_outputs(inner, graph);
  check_reads(level);
  order_nodes(level.network, faults_);
  network::Body body{attribute, nullptr, {}};
  for (const TensorIndex outer : level.captures) {
    level.network.inputs.push_back(level.captured.at(outer));
    body.captured.push_back(node.inputs.size());
    node.inputs.push_back(outer);
  }
  body.network = std::make_shared<const network::Network>(std::move(level.network));
  node.bodies.push_back(std::move(body));
}

/// A body may return one tensor twice; copies keep its outputs distinct.
void NetworkBuilder::read_body_outputs(Scope& inner, const onnx::GraphProto& graph) {
  network::Network& network = inner.level->network;
  for (const auto& output : graph.output()) {
    TensorIndex given = tensor_in(inner, output.name());
    if (std::ranges::find(network.outputs, given) != network.outputs.end()) {
      const TensorIndex copy = make_tensor(inner, output.name());
      add_identity(inner, given, copy);
      given = copy;
    }
    network.outputs.push_back(given);
  }
}

TensorIndex NetworkBuilder::capture(Scope& scope, TensorIndex outer, const std::string& name) {
  if (outer == kAbsent) return kAbsent;
  const auto [place, is_new] = scope.level->captured.try_emplace(outer, kAbsent);
  if (!is_new) return place->second;
  place->second = make_tensor(scope, name);
  scope.level->known.back() = true;
  scope.level->captures.push_back(outer);
  return place->second;
}

}  // namespace tunesmith::onnx_reader
