#include "graph.h"

#include <cstring>
#include <numeric>

#include "statements.h"

namespace tunesmith::operators_onnx {

TensorIndex Graph::add(const std::string& op, std::vector<TensorIndex> inputs, Attributes attributes) {
  return add_all(op, std::move(inputs), std::move(attributes), 1)[0];
}

std::vector<TensorIndex> Graph::add_all(const std::string& op, std::vector<TensorIndex> inputs,
                                        Attributes attributes, size_t outputs, int64_t version) {
  std::vector<TensorIndex> made;
  for (size_t i = 0; i < outputs; ++i) made.push_back(to_.make_tensor());
  to_.add({"", op, version, std::move(attributes), std::move(inputs), made, nullptr});
  return made;
}

TensorIndex Graph::integers(const std::vector<int64_t>& values) {
  return to_.make_constant(make_constant(kI64, {static_cast<int64_t>(values.size())}, values));
}

TensorIndex Graph::range(int64_t end) {
  std::vector<int64_t> values(static_cast<size_t>(end));
  std::iota(values.begin(), values.end(), 0);
  return integers(values);
}

TensorIndex Graph::integer(int64_t value) {
  return to_.make_constant(make_constant(kI64, {}, std::vector<int64_t>{value}));
}

TensorIndex Graph::number(DType dtype, double value) {
  std::vector<std::byte> bytes(sizeof value);
  std::memcpy(bytes.data(), &value, sizeof value);
  const TensorIndex made = to_.make_constant(make_constant(kF64, {}, std::move(bytes)));
  return dtype == kF64 ? made : cast(made, dtype);
}

TensorIndex Graph::truth(bool value) {
  return to_.make_constant(make_constant(kBool, {}, std::vector<int64_t>{value ? 1 : 0}));
}

TensorIndex Graph::slice(TensorIndex of, int64_t axis, int64_t begin, int64_t end) {
  return add("Slice", {of, integers({begin}), integers({end}), integers({axis})});
}

TensorIndex Graph::take(TensorIndex of, int64_t axis, int64_t place) {
  return add("Gather", {of, integer(place)}, {{"axis", axis}});
}

TensorIndex Graph::unsqueeze(TensorIndex of, int64_t axis) {
  return add("Unsqueeze", {of, integers({axis})});
}

TensorIndex Graph::concat(std::vector<TensorIndex> parts, int64_t axis) {
  return parts.size() == 1 ? parts[0] : add("Concat", std::move(parts), {{"axis", axis}});
}

TensorIndex Graph::stack(const std::vector<TensorIndex>& parts, int64_t axis) {
  std::vector<TensorIndex> unsqueezed;
  for (const TensorIndex part : parts) unsqueezed.push_back(unsqueeze(part, axis));
  return concat(std::move(unsqueezed), axis);
}

TensorIndex Graph::reshape(TensorIndex of, const std::vector<int64_t>& shape) {
  return add("Reshape", {of, integers(shape)}, {{"allowzero", int64_t{1}}});
}

TensorIndex Graph::transpose(TensorIndex of, const std::vector<int64_t>& order) {
  return add("Transpose", {of}, {{"perm", order}});
}

TensorIndex Graph::cast(TensorIndex of, DType to) { return add("Cast", {of}, {{"to", number_of_type(to)}}); }

Expand giving(std::function<TensorIndex(const NodeReader& node, Graph& graph)> make) {
  return [make = std::move(make)](const NodeReader& node, network::Expansion& to) {
    Graph graph(to);
    to.give(0, make(node, graph));
    return true;
  };
}

}  // namespace tunesmith::operators_onnx
