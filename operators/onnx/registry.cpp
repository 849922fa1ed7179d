#include "registry.h"

#include <algorithm>
#include <map>
#include <optional>
#include <span>

#include <operators_onnx/find_operator.h>

#include "codes.h"

namespace tunesmith::operators_onnx {
namespace {

bool is_empty(const Shape& shape) { return std::ranges::find(shape, 0) != shape.end(); }

/// Operators that only move elements, so that a code's bytes stay valid.
constexpr std::string_view kMoving[] = {
    "Concat",    "DepthToSpace", "Expand",       "Flatten", "Gather",          "GatherElements",
    "GatherND",  "Identity",     "If",           "Reshape", "ReverseSequence", "Shape",
    "Size",      "Slice",        "SpaceToDepth", "Split",   "Squeeze",         "Tile",
    "Transpose", "Unsqueeze",    "Where"};
/// Operators that decode or encode values.
constexpr std::string_view kDecoding[] = {"Cast", "CastLike", "DequantizeLinear", "QuantizeLinear"};

bool is_among(std::string_view op, std::span<const std::string_view> names) {
  return std::ranges::find(names, op) != names.end();
}

/// The code of the moved elements. Refuses an operator that would compute with the bytes.
Code moved_code(const NodeReader& node) {
  if (is_among(node.op(), kDecoding)) return Code::None;
  std::optional<TensorType> coded;
  for (size_t i = 0; i < node.given_count(); ++i)
    if (node.has(i) && node.code(i) != Code::None) coded = node.type(i);
  if (!coded) return Code::None;
  node.refuse_unless(is_among(node.op(), kMoving),
                     "an input has values of 2, 4 or 8 bits that are no type of kernels; a Cast or "
                     "DequantizeLinear before it makes some of them");
  for (size_t i = 0; i < node.given_count(); ++i)
    node.refuse_unless(!node.has(i) || node.dtype(i) != coded->dtype || node.code(i) == coded->code,
                       "its inputs are of different types");
  return coded->code;
}

/// Statements have no empty arrays: an empty output becomes a constant. If all are, nothing is computed.
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
    const bool given_empty = first && !first->elements && is_empty(first->type.shape);
    node.refuse_unless(!given_empty || row_.takes_empty, "a first input without elements is not taken");
    const Code moved = moved_code(node);
    Computation made = row_.define(node);
    node.refuse_unread_attributes();
    for (TensorType& output : made.outputs)
      if (moved != Code::None && output.dtype == dtype_of(moved)) output.code = moved;
    make_empty_outputs_constant(made);
    return made;
  }

  bool expand(const NodeView& view, network::Expansion& to) const override {
    if (!row_.expand) return false;
    const NodeReader node(view);
    if (!row_.expand(node, to)) return false;
    node.refuse_unread_attributes();
    return true;
  }

 private:
  Row row_;
};

using Table = std::multimap<std::string_view, TableOperator>;

Table make_table() {
  Table table;
  for (const auto& family : {unary_operators,
                             activation_operators,
                             binary_operators,
                             logic_operators,
                             bit_operators,
                             conversion_operators,
                             product_operators,
                             convolution_operators,
                             transposed_convolution_operators,
                             pooling_operators,
                             reduction_operators,
                             selection_operators,
                             top_k_operators,
                             softmax_operators,
                             normalization_operators,
                             reshaping_operators,
                             slicing_operators,
                             padding_operators,
                             gathering_operators,
                             constant_operators,
                             scan_operators,
                             resizing_operators,
                             einsum_operators,
                             quantization_operators,
                             loss_operators,
                             inverse_operators,
                             causal_operators,
                             integer_product_operators,
                             scattering_operators,
                             attention_operators,
                             sampling_operators,
                             region_operators,
                             recurrent_operators,
                             spectral_operators,
                             branching_operators,
                             fused_operators,
                             looping_operators,
                             sequence_operators,
                             linear_attention_operators,
                             microsoft_operators,
                             known_value_operators,
                             suppression_operators,
                             unique_operators}) {
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

Computation never_defined(const NodeReader& node) { node.refuse("it is replaced by other nodes"); }

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
