#include "network_json.h"

#include <cmath>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

namespace tunesmith::cli {
namespace {

/// Represents infinity and NaN, which JSON lacks, as text.
nlohmann::json finite_json(double value) {
  return std::isfinite(value) ? nlohmann::json(value) : nlohmann::json(fmt::format("{}", value));
}

struct AttributeJson {
  nlohmann::json operator()(int64_t value) const { return value; }
  nlohmann::json operator()(double value) const { return finite_json(value); }
  nlohmann::json operator()(const std::string& value) const { return value; }
  nlohmann::json operator()(const std::vector<int64_t>& values) const { return values; }
  nlohmann::json operator()(const std::vector<double>& values) const {
    nlohmann::json list = nlohmann::json::array();
    for (const double value : values) list.push_back(finite_json(value));
    return list;
  }
  nlohmann::json operator()(const std::vector<std::string>& values) const { return values; }
  nlohmann::json operator()(const std::shared_ptr<const network::Constant>& value) const {
    return {{"type", value->dtype.str()}, {"shape", value->shape}};
  }
};

nlohmann::json tensor_names(const network::Network& network,
                            const std::vector<network::TensorIndex>& tensors) {
  nlohmann::json list = nlohmann::json::array();
  for (const network::TensorIndex index : tensors) {
    list.push_back(index == network::kAbsent ? nlohmann::json() : nlohmann::json(network.tensor(index).name));
  }
  return list;
}

nlohmann::json node_json(const network::Network& network, const network::Node& node) {
  nlohmann::json attributes = nlohmann::json::object();
  for (const auto& [name, value] : node.attributes) attributes[name] = std::visit(AttributeJson(), value);
  nlohmann::json bodies = nlohmann::json::object();
  for (const network::Body& body : node.bodies) bodies[body.name] = network_json(*body.network);
  return {{"name", node.name},
          {"op", node.op},
          {"bodies", std::move(bodies)},
          {"version", node.version},
          {"attributes", std::move(attributes)},
          {"inputs", tensor_names(network, node.inputs)},
          {"outputs", tensor_names(network, node.outputs)}};
}

nlohmann::json part_json(const network::Network& network, const std::optional<network::Part>& part) {
  if (!part) return nullptr;
  return {{"of", network.tensor(part->whole).name}, {"begin", part->begin}, {"strides", part->strides}};
}

}  // namespace

nlohmann::json tensor_json(const network::Tensor& tensor) {
  nlohmann::json shape;
  if (tensor.shape) {
    shape = nlohmann::json::array();
    for (const network::Extent& extent : *tensor.shape)
      shape.push_back(std::visit([](const auto& value) { return nlohmann::json(value); }, extent));
  }
  return {{"name", tensor.name},
          {"type", tensor.dtype ? nlohmann::json(tensor.dtype->str()) : nlohmann::json()},
          {"shape", shape}};
}

nlohmann::json network_json(const network::Network& network) {
  nlohmann::json tensors = nlohmann::json::array();
  for (const network::Tensor& tensor : network.tensors) {
    tensors.push_back(tensor_json(tensor));
    tensors.back()["constant"] = tensor.constant != nullptr;
    tensors.back()["order"] = tensor.order;
    tensors.back()["part"] = part_json(network, tensor.part);
  }
  nlohmann::json nodes = nlohmann::json::array();
  for (const network::Node& node : network.nodes) nodes.push_back(node_json(network, node));
  return {{"name", network.name},
          {"tensors", std::move(tensors)},
          {"nodes", std::move(nodes)},
          {"inputs", tensor_names(network, network.inputs)},
          {"outputs", tensor_names(network, network.outputs)}};
}

}  // namespace tunesmith::cli
