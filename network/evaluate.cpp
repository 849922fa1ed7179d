#include "tunesmith/network/evaluate.h"

#include <algorithm>

#include <fmt/format.h>

#include "values.h"

namespace tunesmith::network {
namespace {

/// Computes the values of all tensors in order.
class Evaluation {
 public:
  Evaluation(const Network& network, Precision precision)
      : network_(network),
        precision_(precision),
        values_(network.tensors.size()),
        constants_(network.tensors.size()) {
    for (size_t i = 0; i < network.tensors.size(); ++i)
      if (const auto& constant = network.tensors[i].constant) {
        values_[i] = kept(to_tensor(*constant));
        constants_[i] = to_constant(*values_[i]);
      }
  }

  void give(TensorIndex index, const tunesmith::Tensor& value) {
    const Tensor& tensor = network_.tensor(index);
    if (tensor.dtype && *tensor.dtype != value.dtype && !value.dtype.is_float())
      throw UserError(fmt::format("input '{}' is of type {}, expected {}", tensor.name, value.dtype.str(),
                                  tensor.dtype->str()));
    if (tensor.shape && !fits(*tensor.shape, value.shape))
      throw UserError(fmt::format("input '{}' has an unexpected shape", tensor.name));
    values_[static_cast<size_t>(index)] = kept(value);
  }

  void run(const Node& node) {
    std::vector<std::optional<NodeInput>> inputs;
    for (const TensorIndex input : node.inputs) {
      inputs.emplace_back();
      if (input == kAbsent) continue;
      const tunesmith::Tensor& value = of(input);
      inputs.back() = NodeInput{{value.dtype, value.shape, network_.tensor(input).code},
                                constants_[static_cast<size_t>(input)].get()};
    }
    auto made = compute(define(node, std::move(inputs)),
                        [this](TensorIndex index) -> const tunesmith::Tensor& { return of(index); });
    for (size_t i = 0; i < made.size(); ++i)
      if (node.outputs[i] != kAbsent && made[i])
        values_[static_cast<size_t>(node.outputs[i])] = kept(*made[i]);
  }

  void run(const Loop& loop) {
    for (const Loop::Slice& written : loop.written) values_[static_cast<size_t>(written.whole)].reset();
    for (int64_t trip = 0; trip < loop.trips; ++trip) {
      for (const Loop::Carried& carried : loop.carried)
        copy(trip == 0 ? carried.first : carried.after, carried.before);
      for (const Loop::Slice& read : loop.read)
        values_[static_cast<size_t>(read.part)] = row_of(of(read.whole), read.row(trip, loop.trips));
      for (size_t i = loop.first_node; i < loop.end_node; ++i) run(network_.nodes[i]);
      for (const Loop::Slice& written : loop.written) {
        auto& whole = values_[static_cast<size_t>(written.whole)];
        if (!whole) whole = rows_like(of(written.part), loop.trips);
        set_row(*whole, written.row(trip, loop.trips), of(written.part));
      }
    }
    for (const Loop::Carried& carried : loop.carried)
      if (carried.last != kAbsent) copy(carried.after, carried.last);
  }

  const tunesmith::Tensor& of(TensorIndex index) const {
    const auto& value = values_[static_cast<size_t>(index)];
    if (!value) throw UserError(fmt::format("tensor '{}' is not computed", network_.tensor(index).name));
    return *value;
  }

 private:
  void copy(TensorIndex from, TensorIndex to) {
    values_[static_cast<size_t>(to)] = tunesmith::Tensor(of(from));
  }

  tunesmith::Tensor kept(const tunesmith::Tensor& value) const {
    return precision_ == Precision::F64 ? widened(value) : value;
  }

  static bool fits(const std::vector<Extent>& expected, const Shape& shape) {
    return std::ranges::equal(expected, shape, [](const Extent& extent, int64_t given) {
      const auto* number = std::get_if<int64_t>(&extent);
      return !number || *number == given;
    });
  }

  const Network& network_;
  const Precision precision_;
  std::vector<std::optional<tunesmith::Tensor>> values_;
  std::vector<std::shared_ptr<const Constant>> constants_;  ///< the constants in use
};

}  // namespace

std::vector<tunesmith::Tensor> evaluate(const Network& network, std::span<const tunesmith::Tensor> inputs,
                                        Precision precision) {
  if (inputs.size() != network.inputs.size())
    throw UserError(fmt::format("network '{}' takes {} inputs, found {}", network.name, network.inputs.size(),
                                inputs.size()));
  Evaluation evaluation(network, precision);
  for (size_t i = 0; i < inputs.size(); ++i) evaluation.give(network.inputs[i], inputs[i]);
  for (size_t i = 0; i < network.nodes.size(); ++i) {
    if (const Loop* loop = loop_of(network, i)) {
      evaluation.run(*loop);
      i = loop->end_node - 1;
    } else {
      evaluation.run(network.nodes[i]);
    }
  }
  std::vector<tunesmith::Tensor> outputs;
  for (const TensorIndex output : network.outputs) outputs.push_back(evaluation.of(output));
  return outputs;
}

}  // namespace tunesmith::network
