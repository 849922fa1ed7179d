#include "network_json.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "output.h"

namespace tunesmith::cli {
namespace {

using nlohmann::json;

/// What JSON has no number for is text.
json finite_json(double value) { return std::isfinite(value) ? json(value) : json(fmt::format("{}", value)); }

struct AttributeJson {
  json operator()(int64_t value) const { return value; }
  json operator()(double value) const { return finite_json(value); }
  json operator()(const std::string& value) const { return value; }
  json operator()(const std::vector<int64_t>& values) const { return values; }
  json operator()(const std::vector<double>& values) const {
    json list = json::array();
    for (const double value : values) list.push_back(finite_json(value));
    return list;
  }
  json operator()(const std::vector<std::string>& values) const { return values; }
  json operator()(const std::shared_ptr<const network::Constant>& value) const {
    return {{"type", value->dtype.str()}, {"shape", value->shape}};
  }
};

json tensor_names(const network::Network& network, const std::vector<network::TensorIndex>& tensors) {
  json list = json::array();
  for (const network::TensorIndex index : tensors) {
    list.push_back(index == network::kAbsent ? json()
                                             : json(network.tensors[static_cast<size_t>(index)].name));
  }
  return list;
}

json node_json(const network::Network& network, const network::Node& node) {
  json attributes = json::object();
  for (const auto& [name, value] : node.attributes) attributes[name] = std::visit(AttributeJson(), value);
  return {{"name", node.name},
          {"op", node.op},
          {"version", node.version},
          {"attributes", std::move(attributes)},
          {"inputs", tensor_names(network, node.inputs)},
          {"outputs", tensor_names(network, node.outputs)}};
}

}  // namespace

json tensor_json(const network::Tensor& tensor) {
  json shape;
  if (tensor.shape) {
    shape = json::array();
    for (const network::Extent& extent : *tensor.shape)
      shape.push_back(std::visit([](const auto& value) { return json(value); }, extent));
  }
  return {
      {"name", tensor.name}, {"type", tensor.dtype ? json(tensor.dtype->str()) : json()}, {"shape", shape}};
}

json network_json(const network::Network& network) {
  json tensors = json::array();
  for (const network::Tensor& tensor : network.tensors) {
    tensors.push_back(tensor_json(tensor));
    tensors.back()["constant"] = tensor.constant != nullptr;
  }
  json nodes = json::array();
  for (const network::Node& node : network.nodes) nodes.push_back(node_json(network, node));
  return {{"name", network.name},
          {"tensors", std::move(tensors)},
          {"nodes", std::move(nodes)},
          {"inputs", tensor_names(network, network.inputs)},
          {"outputs", tensor_names(network, network.outputs)}};
}

void print_network_json(const json& value) {
  fmt::print(output(), "{}\n", value.dump(-1, ' ', false, json::error_handler_t::replace));
}

}  // namespace tunesmith::cli
