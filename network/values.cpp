#include "values.h"

#include <algorithm>

#include "tunesmith/verification/interpreter.h"

namespace tunesmith::network {
tunesmith::Tensor to_tensor(const Constant& constant) {
  return {constant.dtype, constant.shape, {constant.bytes.begin(), constant.bytes.end()}};
}

std::shared_ptr<const Constant> to_constant(tunesmith::Tensor tensor) {
  const auto owner = std::make_shared<const tunesmith::Tensor>(std::move(tensor));
  return std::make_shared<Constant>(Constant{owner->dtype, owner->shape, owner->bytes, owner});
}

tunesmith::Tensor row_of(const tunesmith::Tensor& whole, int64_t row) {
  const auto bytes = std::ssize(whole.bytes) / whole.shape.front();
  const auto first = whole.bytes.begin() + row * bytes;
  return {whole.dtype, {whole.shape.begin() + 1, whole.shape.end()}, {first, first + bytes}};
}

void set_row(tunesmith::Tensor& whole, int64_t row, const tunesmith::Tensor& value) {
  std::ranges::copy(value.bytes, whole.bytes.begin() + row * std::ssize(value.bytes));
}

tunesmith::Tensor rows_like(const tunesmith::Tensor& row, int64_t rows) {
  Shape shape = row.shape;
  shape.insert(shape.begin(), rows);
  return tunesmith::Tensor::zeros(row.dtype, std::move(shape));
}

tunesmith::Tensor widened(const tunesmith::Tensor& tensor) {
  if (!tensor.dtype.is_float() || tensor.dtype == kF64) return tensor;
  tunesmith::Tensor wide = tunesmith::Tensor::zeros(kF64, tensor.shape);
  for (int64_t i = 0; i < tensor.elements(); ++i) wide.set(i, tensor.get(i));
  return wide;
}

std::vector<std::optional<tunesmith::Tensor>> compute(
    const DefinedNode& defined, const std::function<const tunesmith::Tensor&(TensorIndex)>& value_of) {
  const Node& node = *defined.node;
  const Computation& computation = defined.computation;
  std::vector<std::optional<tunesmith::Tensor>> values(node.outputs.size());
  for (size_t i = 0; i < computation.constants.size(); ++i)
    if (computation.constants[i]) values[i] = to_tensor(*computation.constants[i]);
  const NodeWorkload joined = join("node", {&defined, 1}, [](TensorIndex) { return true; });
  if (joined.outputs.empty()) return values;
  std::vector<tunesmith::Tensor> arguments;
  for (const TensorIndex input : joined.inputs) {
    arguments.push_back(value_of(input));
    arguments.back().shape = array_shape(arguments.back().shape);
  }
  const Program& program = joined.workload.program;
  for (const Buffer& output : program.outputs) arguments.push_back(tunesmith::Tensor::like(*output));
  interpret(program, arguments, {false, false});
  for (size_t i = 0; i < node.outputs.size(); ++i) {
    const auto found = std::ranges::find(joined.outputs, node.outputs[i]);
    if (values[i] || found == joined.outputs.end()) continue;
    values[i] =
        std::move(arguments[joined.inputs.size() + static_cast<size_t>(found - joined.outputs.begin())]);
    values[i]->shape = computation.outputs[i].shape;
    check_invariant(values[i]->dtype == computation.outputs[i].dtype,
                    "an operator's statements have its types");
  }
  return values;
}

void fold(Network& network, const DefinedNode& defined) {
  const Node& node = *defined.node;
  std::map<TensorIndex, tunesmith::Tensor> values;
  for (const TensorIndex input : node.inputs) {
    if (input != kAbsent) values.emplace(input, to_tensor(*network.tensor(input).constant));
  }
  auto made =
      compute(defined, [&](TensorIndex index) -> const tunesmith::Tensor& { return values.at(index); });
  for (size_t i = 0; i < made.size(); ++i) {
    if (made[i] && node.outputs[i] != kAbsent)
      network.tensor(node.outputs[i]).constant = to_constant(std::move(*made[i]));
  }
}

}  // namespace tunesmith::network
