// `network import`.
#include <algorithm>
#include <functional>
#include <map>
#include <optional>
#include <set>

#include <fmt/format.h>
#include <fmt/ranges.h>
#include <nlohmann/json.hpp>

#include <tunesmith/network/read_network.h>

#include "commands.h"
#include "common/exit_codes.h"
#include "common/print_json.h"
#include "network_json.h"
#include "output.h"
#include "tasks.h"

namespace tunesmith::cli {
namespace {

using network::Network;
using network::Node;

/// Visits the network and the bodies of its nodes.
void for_each_network(const Network& network, const std::function<void(const Network&)>& visit) {
  visit(network);
  for (const Node& node : network.nodes)
    for (const network::Body& body : node.bodies) for_each_network(*body.network, visit);
}

/// The names of the nodes with an operator that the importer does not know, by operator and version.
using UnknownOperators = std::map<std::pair<std::string, int64_t>, std::vector<std::string>>;

UnknownOperators unknown_operators(const network::ReadNetwork& read) {
  UnknownOperators unknown;
  for_each_network(read.network, [&](const Network& each) {
    for (const Node& node : each.nodes)
      if (read.importer->find_operator(node.op, node.version) == nullptr)
        unknown[{node.op, node.version}].push_back(node.name);
  });
  return unknown;
}

/// Operators by decreasing count, then by name.
std::vector<std::pair<std::string, int64_t>> operators_of(const Network& network) {
  std::map<std::string, int64_t> counts;
  for_each_network(network, [&](const Network& each) {
    for (const Node& node : each.nodes) ++counts[node.op];
  });
  std::vector<std::pair<std::string, int64_t>> operators(counts.begin(), counts.end());
  std::ranges::stable_sort(operators, [](const auto& a, const auto& b) { return a.second > b.second; });
  return operators;
}

size_t node_count(const Network& network) {
  size_t count = 0;
  for_each_network(network, [&](const Network& each) { count += each.nodes.size(); });
  return count;
}

struct WeightSize {
  int64_t tensors = 0;
  int64_t bytes = 0;
};

WeightSize weights_of(const Network& network) {
  WeightSize weights;
  for_each_network(network, [&](const Network& each) {
    for (const network::Tensor& tensor : each.tensors) {
      if (!tensor.constant) continue;
      ++weights.tensors;
      weights.bytes += static_cast<int64_t>(tensor.constant->bytes.size());
    }
  });
  return weights;
}

/// What else the import finds, besides the names of operators.
struct Check {
  std::set<std::string> open;  // extents without a value; if there are any, the rest is unknown
  std::optional<std::pair<size_t, size_t>> kernels;  // number of kernels in a call, and of different tasks
  std::string refused;                               // why there are no kernels
  std::optional<Network> outline;                    // with the types that are known
  std::map<size_t, std::string> refused_nodes;       // why, by place in the outline
};

Check check(Session& session, const network::ReadNetwork& read, const NetworkArguments& arguments) {
  Check check;
  if (arguments.dimensions.empty()) check.open = network::extents_to_give(read.network);
  if (!check.open.empty()) return check;
  try {
    const TaskedNetwork tasked =
        read_tasks(session, arguments, [&](const network::Pass& pass, const Network& after) {
          if (arguments.outline && pass.name == "fix_shapes") check.outline = after;
        });
    check.kernels = {tasked.regions.size(), tasked.tasks.size()};
  } catch (const network::RefusedNodes& error) {
    check.refused = error.what();
    check.outline = error.network();
    for (const network::Refusal& refusal : error.refusals())
      for (const size_t node : refusal.nodes) check.refused_nodes[node] = refusal.what;
  } catch (const UserError& error) {
    check.refused = error.what();
  }
  return check;
}

nlohmann::json summary_json(const network::ReadNetwork& read, const Check& check, const std::string& file) {
  const Network& network = read.network;
  const auto tensors = [&](const std::vector<network::TensorIndex>& indices) {
    nlohmann::json list = nlohmann::json::array();
    for (const network::TensorIndex index : indices) list.push_back(tensor_json(network.tensor(index)));
    return list;
  };
  nlohmann::json operators = nlohmann::json::object();
  for (const auto& [op, count] : operators_of(network)) operators[op] = count;
  nlohmann::json unknown = nlohmann::json::array();
  for (const auto& [op, nodes] : unknown_operators(read))
    unknown.push_back({{"op", op.first}, {"version", op.second}, {"nodes", nodes}});
  const WeightSize weights = weights_of(network);
  return {{"file", file},
          {"importer", read.importer_id},
          {"name", network.name},
          {"inputs", tensors(network.inputs)},
          {"outputs", tensors(network.outputs)},
          {"nodes", node_count(network)},
          {"operators", std::move(operators)},
          {"weights", {{"tensors", weights.tensors}, {"bytes", weights.bytes}}},
          {"unknown_operators", std::move(unknown)},
          {"open_extents", check.open},
          {"kernels", check.kernels ? nlohmann::json(check.kernels->first) : nlohmann::json()},
          {"refused", check.refused.empty() ? nlohmann::json() : nlohmann::json(check.refused)}};
}

/// The network, with why each refused node is refused.
nlohmann::json outline_json(const Network& outline, const std::map<size_t, std::string>& refused) {
  nlohmann::json json = network_json(outline);
  for (const auto& [node, why] : refused) json["nodes"][node]["refused"] = why;
  return json;
}

/// Keeps the inputs and outputs only.
Network without_nodes(const Network& network) {
  Network outside{network.name, network.tensors, {}, network.inputs, network.outputs};
  for (network::Tensor& tensor : outside.tensors) tensor.constant = nullptr;
  return outside;
}

void print_unknown(const UnknownOperators& unknown) {
  constexpr size_t kNamed = 3;
  if (unknown.empty()) return;
  fmt::print(output(), "unknown operators: {}\n", unknown.size());
  for (const auto& [op, nodes] : unknown) {
    std::string named;
    for (size_t i = 0; i < std::min(kNamed, nodes.size()); ++i)
      named += fmt::format("{}'{}'", i > 0 ? ", " : "", nodes[i]);
    if (nodes.size() > kNamed) named += fmt::format(" and {} more", nodes.size() - kNamed);
    fmt::print(output(), "  {}@{}: {}\n", op.first, op.second, named);
  }
}

}  // namespace

int run_network_import(const Common& common, const NetworkArguments& arguments) {
  Session session(common);
  const network::ReadNetwork read =
      network::read_network(session.registry(), arguments.file, arguments.operators);
  const Check checked = check(session, read, arguments);
  const UnknownOperators unknown = unknown_operators(read);
  // If all extents are known, the refusal names the unknown operators that a result needs.
  const bool lacks_operators = !checked.open.empty() && !unknown.empty();
  const int code = lacks_operators || !checked.refused.empty() ? kRefused : kDone;
  const Network& outline = checked.outline ? *checked.outline : read.network;
  if (common.json) {
    nlohmann::json summary = summary_json(read, checked, arguments.file);
    if (arguments.outline) summary["outline"] = outline_json(outline, checked.refused_nodes);
    print_json(summary);
    return code;
  }
  fmt::print(
      output(), "{}",
      arguments.outline ? to_text(outline, checked.refused_nodes) : to_text(without_nodes(read.network)));
  fmt::print(output(), "nodes: {}", node_count(read.network));
  const char* separator = " (";
  for (const auto& [op, count] : operators_of(read.network)) {
    fmt::print(output(), "{}{} {}", separator, op, count);
    separator = ", ";
  }
  const WeightSize weights = weights_of(read.network);
  fmt::print(output(), "{}\nweights: {} bytes in {} tensors\n", read.network.nodes.empty() ? "" : ")",
             weights.bytes, weights.tensors);
  if (lacks_operators) print_unknown(unknown);
  if (checked.kernels)
    fmt::print(output(), "{} kernels a call, {} tasks\n", checked.kernels->first, checked.kernels->second);
  if (!checked.open.empty())
    fmt::print(output(), "only the names of operators are checked, not values; --dim gives {}\n",
               fmt::join(checked.open, ", "));
  if (!checked.refused.empty()) fmt::print(stderr, "tunesmith: {}\n", checked.refused);
  return code;
}

}  // namespace tunesmith::cli
