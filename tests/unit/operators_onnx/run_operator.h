// Runs one node of an ONNX operator, for tests with known results.
#pragma once

#include <array>
#include <cmath>
#include <numeric>
#include <sstream>

#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <operators_onnx/find_operator.h>

#include "tunesmith/network/counted_outputs.h"
#include "tunesmith/network/evaluate.h"
#include "tunesmith/network/node_workload.h"
#include "tunesmith/network/pass.h"

namespace tunesmith::operators_onnx {

inline constexpr double kNan = std::numeric_limits<double>::quiet_NaN();

struct Given {
  Tensor value;
  bool is_constant = false;
  network::Code code = network::Code::None;
};

inline Tensor tensor_of(DType dtype, std::vector<int64_t> shape, const std::vector<double>& values) {
  Tensor made = Tensor::zeros(dtype, std::move(shape));
  if (made.elements() != static_cast<int64_t>(values.size()))
    throw std::logic_error("a test gives too few values");
  for (size_t i = 0; i < values.size(); ++i) made.set(static_cast<int64_t>(i), values[i]);
  return made;
}
inline Given given(std::vector<int64_t> shape, const std::vector<double>& values, DType dtype = kF32) {
  return {tensor_of(dtype, std::move(shape), values)};
}
inline Given known(std::vector<int64_t> shape, const std::vector<double>& values, DType dtype = kI64) {
  return {tensor_of(dtype, std::move(shape), values), true};
}
/// first, first + step, ...
inline Given counted(std::vector<int64_t> shape, double first = 0, double step = 1, DType dtype = kF32) {
  Tensor made = Tensor::zeros(dtype, std::move(shape));
  for (int64_t i = 0; i < made.elements(); ++i) made.set(i, first + step * static_cast<double>(i));
  return {made};
}
/// Random values without symmetry.
inline Given drawn(std::vector<int64_t> shape, uint64_t seed, DType dtype = kF32) {
  Tensor made = Tensor::zeros(dtype, std::move(shape));
  made.fill_random(seed);
  return {made};
}

using Attributes = std::map<std::string, network::Attribute>;
using Ints = std::vector<int64_t>;

struct Use {
  std::string op;
  int64_t version = 17;
  std::vector<std::optional<Given>> inputs;
  Attributes attributes = {};
  size_t outputs = 1;
  std::vector<network::Body> bodies = {};
};

/// A body with a node for each text "c = Add(a, b)". Tensors that are neither inputs nor computed before are
/// captured.
inline network::Body body_of(const std::string& name, const std::vector<std::string>& inputs,
                             const std::vector<std::array<std::string, 3>>& nodes,
                             const std::vector<std::string>& outputs, std::vector<size_t> captured = {}) {
  network::Network body;
  body.name = name;
  std::map<std::string, network::TensorIndex> tensors;
  const auto tensor = [&](const std::string& of) {
    const auto [place, is_new] = tensors.try_emplace(of, static_cast<network::TensorIndex>(tensors.size()));
    if (is_new) body.tensors.push_back({of, std::nullopt, std::nullopt, nullptr});
    return place->second;
  };
  for (const std::string& input : inputs) body.inputs.push_back(tensor(input));
  for (const auto& [result, op, operands] : nodes) {
    network::Node node{"make " + result, op, 17, {}, {}, {tensor(result)}, nullptr};
    std::istringstream words(operands);
    for (std::string word; words >> word;) node.inputs.push_back(tensor(word));
    body.nodes.push_back(std::move(node));
  }
  for (const std::string& output : outputs) body.outputs.push_back(tensor(output));
  return {name, std::make_shared<const network::Network>(std::move(body)), std::move(captured)};
}

inline network::Network network_of(const Use& use) {
  network::Network network;
  network.name = "test";
  network::Node node{"node", use.op, use.version, use.attributes, {}, {}, nullptr, use.bodies};
  for (const auto& input : use.inputs) {
    const auto index = static_cast<network::TensorIndex>(network.tensors.size());
    node.inputs.push_back(input ? index : network::kAbsent);
    if (!input) continue;
    const auto owner = std::make_shared<const Tensor>(input->value);
    network::Tensor tensor{"x" + std::to_string(index), owner->dtype,
                           std::vector<network::Extent>(owner->shape.begin(), owner->shape.end()), nullptr};
    tensor.code = input->code;
    if (input->is_constant)
      tensor.constant = std::make_shared<network::Constant>(
          network::Constant{owner->dtype, owner->shape, owner->bytes, owner});
    else
      network.inputs.push_back(index);
    network.tensors.push_back(std::move(tensor));
  }
  for (size_t i = 0; i < use.outputs; ++i) {
    node.outputs.push_back(static_cast<network::TensorIndex>(network.tensors.size()));
    network.outputs.push_back(node.outputs.back());
    network.tensors.push_back({"y" + std::to_string(i), std::nullopt, std::nullopt, nullptr});
  }
  network.nodes.push_back(std::move(node));
  return network;
}

/// The outputs in f64. The language must also accept the statements in the inputs' own types, and their text
/// must mean the same.
inline std::vector<Tensor> run_all(const Use& use) {
  network::Network network = network_of(use);
  network::run_passes(network, {find_operator, {}});
  if (!network.nodes.empty()) {
    const Workload made = network::workload_of(network, std::array<size_t, 1>{0}).workload;
    EXPECT_EQ(WorkloadDefinition::parse(made.definition, "text").instantiate().hash, made.hash)
        << made.definition;
  }
  std::vector<Tensor> inputs;
  for (const auto& input : use.inputs)
    if (input && !input->is_constant) inputs.push_back(input->value);
  return network::cut_to_counts(network.counted, network::evaluate(network, inputs));
}
inline Tensor run(const Use& use) { return run_all(use).at(0); }

inline std::vector<double> values_of(const Tensor& tensor) {
  std::vector<double> values;
  for (int64_t i = 0; i < tensor.elements(); ++i) values.push_back(tensor.get(i));
  return values;
}

/// Compares shape and values; NaN equals NaN.
inline void expect_tensor(const Tensor& found, const Ints& shape, const std::vector<double>& expected,
                          double tolerance = 1e-12) {
  EXPECT_EQ(found.shape, shape);
  ASSERT_EQ(found.elements(), static_cast<int64_t>(expected.size()));
  for (size_t i = 0; i < expected.size(); ++i) {
    const double value = found.get(static_cast<int64_t>(i));
    if (std::isnan(expected[i]))
      EXPECT_TRUE(std::isnan(value)) << "element " << i << " is " << value;
    else if (std::isinf(expected[i]))
      EXPECT_EQ(value, expected[i]) << "element " << i;
    else
      EXPECT_NEAR(value, expected[i], tolerance * std::max(1.0, std::abs(expected[i]))) << "element " << i;
  }
}

/// The message of the UserError that a use throws.
inline std::string refusal_of(const Use& use) {
  try {
    run(use);
  } catch (const UserError& error) {
    return error.what();
  }
  return "nothing was refused";
}

}  // namespace tunesmith::operators_onnx
