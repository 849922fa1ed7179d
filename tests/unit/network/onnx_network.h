// Builds networks of ONNX operators by the names of their tensors.
#pragma once

#include <algorithm>
#include <string>
#include <vector>

#include "tunesmith/network/network.h"
#include "tunesmith/verification/tensor.h"

namespace tunesmith::network {

class Builder {
 public:
  void input(const std::string& name, DType dtype, std::vector<Extent> shape) {
    network_.inputs.push_back(tensor(name));
    network_.tensors.back().dtype = dtype;
    network_.tensors.back().shape = std::move(shape);
  }
  void numbers(const std::string& name, const Shape& shape, const std::vector<double>& values,
               DType dtype = kF32) {
    auto owner = std::make_shared<tunesmith::Tensor>(tunesmith::Tensor::zeros(dtype, shape));
    for (size_t i = 0; i < values.size(); ++i) owner->set(static_cast<int64_t>(i), values[i]);
    Tensor& made = network_.tensors[static_cast<size_t>(tensor(name))];
    made.dtype = dtype;
    made.shape = std::vector<Extent>(shape.begin(), shape.end());
    made.constant = std::make_shared<Constant>(Constant{dtype, shape, owner->bytes, owner});
  }
  void integers(const std::string& name, const std::vector<double>& values) {
    numbers(name, {static_cast<int64_t>(values.size())}, values, kI64);
  }
  void node(const std::string& op, const std::vector<std::string>& inputs,
            const std::vector<std::string>& outputs, std::map<std::string, Attribute> attributes = {}) {
    Node made{"node" + std::to_string(network_.nodes.size()), op, 17, std::move(attributes), {}, {}, nullptr};
    for (const std::string& name : inputs) made.inputs.push_back(tensor(name));
    for (const std::string& name : outputs) made.outputs.push_back(tensor(name));
    network_.nodes.push_back(std::move(made));
  }
  Network finish(const std::vector<std::string>& outputs) {
    network_.name = "built";
    for (const std::string& name : outputs) network_.outputs.push_back(tensor(name));
    check_invariants(network_);
    return network_;
  }

 private:
  TensorIndex tensor(const std::string& name) {
    const auto found = std::ranges::find(network_.tensors, name, &Tensor::name);
    if (found == network_.tensors.end()) {
      network_.tensors.push_back({name, std::nullopt, std::nullopt, nullptr});
      return static_cast<TensorIndex>(network_.tensors.size() - 1);
    }
    return static_cast<TensorIndex>(found - network_.tensors.begin());
  }

  Network network_;
};

}  // namespace tunesmith::network
