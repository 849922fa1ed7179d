// The tables of operators: one for each family, in the file that defines it.
#pragma once

#include <functional>
#include <span>
#include <string_view>

#include "reader.h"

namespace tunesmith::operators_onnx {

using Define = std::function<Computation(const NodeReader&)>;

/// Replaces a node by others; returns false if it does not, and then Define is called.
using Expand = std::function<bool(const NodeReader&, network::Expansion&)>;

/// For operators whose nodes are always replaced.
Computation never_defined(const NodeReader& node);

/// An operator from one version of the operator set on, until the next row of this name.
struct Row {
  std::string_view name;
  int64_t since;
  Define define;
  /// A first input without elements is accepted.
  bool takes_empty = false;
  bool is_over_images = false;
  Expand expand = {};
};

/// GELU of x, by the error function or its approximation with tanh.
std::string gelu(const std::string& x, bool by_tanh);

/// An operator followed by the function that attribute 'activation' names. `define` computes the array
/// `result`.
Define with_activation(Computation (*define)(const NodeReader& node, std::string_view result));

std::vector<Row> unary_operators();
std::vector<Row> activation_operators();
std::vector<Row> binary_operators();
std::vector<Row> logic_operators();
std::vector<Row> bit_operators();
std::vector<Row> conversion_operators();
std::vector<Row> product_operators();
std::vector<Row> convolution_operators();
std::vector<Row> transposed_convolution_operators();
std::vector<Row> pooling_operators();
std::vector<Row> reduction_operators();
std::vector<Row> selection_operators();
std::vector<Row> top_k_operators();
std::vector<Row> softmax_operators();
std::vector<Row> normalization_operators();
std::vector<Row> reshaping_operators();
std::vector<Row> slicing_operators();
std::vector<Row> padding_operators();
std::vector<Row> gathering_operators();
std::vector<Row> constant_operators();
std::vector<Row> scan_operators();
std::vector<Row> resizing_operators();
std::vector<Row> quantization_operators();
std::vector<Row> integer_product_operators();
std::vector<Row> loss_operators();
std::vector<Row> einsum_operators();
std::vector<Row> inverse_operators();
std::vector<Row> causal_operators();
std::vector<Row> scattering_operators();
std::vector<Row> attention_operators();
std::vector<Row> sampling_operators();
std::vector<Row> region_operators();
std::vector<Row> recurrent_operators();
std::vector<Row> spectral_operators();
std::vector<Row> branching_operators();
std::vector<Row> looping_operators();
std::vector<Row> sequence_operators();
std::vector<Row> linear_attention_operators();
std::vector<Row> fused_operators();
std::vector<Row> microsoft_operators();
std::vector<Row> known_value_operators();
std::vector<Row> suppression_operators();
std::vector<Row> unique_operators();

}  // namespace tunesmith::operators_onnx
