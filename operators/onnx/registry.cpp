#include "registry.h"

#include <algorithm>
#include <map>

#include <operators_onnx/find_operator.h>

namespace tunesmith::operators_onnx {
namespace {

bool is_empty(const Shape& shape) { return std::ranges::find(shape, 0) != shape.end(); }

/// Statements have no empty arrays: what is empty is a constant, and of nothing nothing is computed.
void make_empty_outputs_constant(Computation& made) {
  for (size_t i = 0; i < made.outputs.size(); ++i) {
    if (!is_empty(made.outputs[i].shape)) continue;
    made.constants.resize(made.outputs.size());
    made.constants[i] = make_constant(made.outputs[i].dtype, made.outputs[i].shape, std::vector<std::byte>());
  }
  if (!made.constants.empty() && std::ranges::find(made.constants, nullptr) == made.constants.end())
    made.compute.clear();
}

class TableOperator final : public network::Operator {
 public:
  explicit TableOperator(Row row) : row_(std::move(row)) {}
  const Row& row() const { return row_; }

  bool is_over_images() const override { return row_.is_over_images; }

  Computation define(const NodeView& view) const override {
    const NodeReader node(view);
    const auto& first = view.inputs.empty() ? std::nullopt : view.inputs.front();
    const bool given_empty = first && is_empty(first->type.shape);
    node.refuse_unless(!given_empty || row_.takes_empty, "a first input without elements is not taken");
    Computation made = row_.define(node);
    node.refuse_unread_attributes();
    make_empty_outputs_constant(made);
    return made;
  }

 private:
  Row row_;
};

using Table = std::multimap<std::string_view, TableOperator>;

Table make_table() {
  Table table;
  for (const auto& family : {unary_operators,      activation_operators,    binary_operators,
                             logic_operators,      bit_operators,           conversion_operators,
                             product_operators,    convolution_operators,   transposed_convolution_operators,
                             pooling_operators,    reduction_operators,     selection_operators,
                             softmax_operators,    normalization_operators, reshaping_operators,
                             slicing_operators,    padding_operators,       gathering_operators,
                             constant_operators,   scan_operators,          resizing_operators,
                             einsum_operators,     quantization_operators,  loss_operators,
                             inverse_operators,    causal_operators,        integer_product_operators,
                             scattering_operators, attention_operators,     sampling_operators,
                             region_operators,     recurrent_operators,     spectral_operators,
                             branching_operators,  fused_operators}) {
    for (Row& row : family()) {
      const std::string_view name = row.name;
      table.emplace(name, TableOperator(std::move(row)));
    }
  }
  return table;
}

const Table& table() {
  static const Table* made = new Table(make_table());  // never destroyed: networks point into it
  return *made;
}

}  // namespace

const network::Operator* find_operator(std::string_view op, int64_t version) {
  if (version > kNewestVersion) return nullptr;
  const TableOperator* newest = nullptr;
  const auto [first, last] = table().equal_range(op);
  for (auto each = first; each != last; ++each) {
    const int64_t since = each->second.row().since;
    if (since <= version && (!newest || since > newest->row().since)) newest = &each->second;
  }
  return newest;
}

std::vector<std::string> known_operators() {
  std::vector<std::string> names;
  for (const auto& [name, row] : table())
    if (names.empty() || names.back() != name) names.emplace_back(name);
  return names;
}

}  // namespace tunesmith::operators_onnx
