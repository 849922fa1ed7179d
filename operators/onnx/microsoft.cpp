// Operators that onnxruntime's optimiser and quantiser write, replaced by ONNX's own.
#include <algorithm>
#include <numeric>

#include <fmt/format.h>

#include "graph.h"

namespace tunesmith::operators_onnx {
namespace {

/// Dequantizes input `first` by the two inputs behind it: scale and zero point.
TensorIndex dequantize(const NodeReader& node, Graph& graph, size_t first) {
  return graph.add("DequantizeLinear", {node.input(first), node.input(first + 1), node.input(first + 2)});
}

TensorIndex quantize(const NodeReader& node, Graph& graph, TensorIndex value, size_t scale) {
  return graph.add("QuantizeLinear", {value, node.input(scale), node.input(scale + 1)});
}

// ---- Quantised

TensorIndex q_linear_concat(const NodeReader& node, Graph& graph) {
  node.refuse_unless(node.given_count() >= 5 && node.given_count() % 3 == 2,
                     "expected a scale and a zero point, and three inputs for each part");
  std::vector<TensorIndex> parts;
  for (size_t i = 2; i < node.given_count(); i += 3) parts.push_back(dequantize(node, graph, i));
  return quantize(node, graph, graph.concat(std::move(parts), node.integer("axis", 0)), 0);
}

/// Puts an operator on floats between DequantizeLinear and QuantizeLinear, with the attributes in `taken`.
Expand between(const char* op, std::vector<std::string> taken, std::vector<std::string> left_out) {
  return giving(
      [op, taken = std::move(taken), left_out = std::move(left_out)](const NodeReader& node, Graph& graph) {
        Graph::Attributes attributes;
        for (const auto& [name, value] : node.node().attributes)
          if (std::ranges::find(taken, name) != taken.end()) {
            node.ignore(name);
            attributes[name] = value;
          }
        for (const std::string& name : left_out)
          node.refuse_unless(node.integer(name, 0) == 0, fmt::format("attribute '{}' is not 0", name));
        const TensorIndex value = graph.add(op, {dequantize(node, graph, 0)}, std::move(attributes));
        return quantize(node, graph, value, 3);
      });
}

/// Attribute 'opset' says whose Softmax it is: before 13, a row has all axes from 'axis' on.
TensorIndex q_linear_softmax(const NodeReader& node, Graph& graph) {
  const Graph::Attributes attributes{{"axis", node.integer("axis", -1)}};
  const TensorIndex value =
      graph.add_all("Softmax", {dequantize(node, graph, 0)}, attributes, 1, node.integer("opset", 13))[0];
  return quantize(node, graph, value, 3);
}

TensorIndex operand_of(const NodeReader& node, Graph& graph, size_t number, const char* attribute) {
  node.refuse_unless(node.rank(number) == 2, "its operands are not matrices");
  return node.flag(attribute, false) ? graph.transpose(node.input(number), {1, 0}) : node.input(number);
}

/// Integer sums of products times their scales, which for a matrix may be one for each column.
TensorIndex scaled_sums(Graph& graph, TensorIndex sums, const std::vector<TensorIndex>& scales, DType type) {
  TensorIndex value = graph.cast(sums, type);
  for (const TensorIndex scale : scales) value = graph.add("Mul", {value, scale});
  return value;
}

TensorIndex q_gemm(const NodeReader& node, Graph& graph) {
  const TensorIndex a = operand_of(node, graph, 0, "transA"), b = operand_of(node, graph, 3, "transB");
  TensorIndex sums = graph.add("MatMulInteger", {a, b, node.input(2), node.input(5)});
  if (node.has(6)) sums = graph.add("Add", {sums, node.input(6)});
  const DType type = node.dtype(1);
  TensorIndex value = scaled_sums(graph, sums, {node.input(1), node.input(4)}, type);
  const double alpha = node.number("alpha", 1);
  if (alpha != 1) value = graph.add("Mul", {value, graph.number(type, alpha)});
  return node.has(7) ? quantize(node, graph, value, 7) : value;
}

TensorIndex mat_mul_integer_to_float(const NodeReader& node, Graph& graph) {
  const TensorIndex sums =
      graph.add("MatMulInteger", {node.input(0), node.input(1), node.input(4), node.input(5)});
  TensorIndex value = scaled_sums(graph, sums, {node.input(2), node.input(3)}, node.dtype(2));
  if (node.has(6)) value = graph.add("Add", {value, node.input(6)});
  return value;
}

TensorIndex dynamic_quantize_mat_mul(const NodeReader& node, Graph& graph) {
  const auto quantized = graph.add_all("DynamicQuantizeLinear", {node.input(0)}, {}, 3);
  const TensorIndex sums =
      graph.add("MatMulInteger", {quantized[0], node.input(1), quantized[2], node.input(3)});
  TensorIndex value = scaled_sums(graph, sums, {quantized[1], node.input(2)}, node.dtype(0));
  if (node.has(4)) value = graph.add("Add", {value, node.input(4)});
  return value;
}

// ---- Attention

/// What onnxruntime's two attention operators share: operands [batch, tokens, heads * width], and terms that
/// are added to the scores.
class MicrosoftAttention {
 public:
  MicrosoftAttention(const NodeReader& node, network::Expansion& to) : node_(node), graph_(to) {
    heads_ = node.integer("num_heads", 0);
    node.refuse_unless(heads_ >= 1, "attribute 'num_heads' is missing");
    filter_ = node.number("mask_filter_value", -10000);
  }

  Graph& graph() { return graph_; }
  int64_t heads() const { return heads_; }

  /// Masks `all` keys, past ones included. The input has lengths, or 1 where a key is seen.
  void add_mask(size_t number, int64_t batch, int64_t all, DType type) {
    if (!node_.has(number)) return;
    const Shape& shape = node_.shape(number);
    TensorIndex seen = node_.input(number);
    if (shape == Shape{batch}) {
      seen = graph_.cast(
          graph_.add("Less", {graph_.range(all), graph_.unsqueeze(graph_.cast(seen, kI64), 1)}), type);
    } else if (shape == Shape{batch, all} || (shape.size() == 3 && shape[0] == batch && shape[2] == all)) {
      seen = graph_.cast(seen, type);
    } else {
      node_.refuse(fmt::format("input {} is no mask of lengths, of keys, or of queries and keys", number));
    }
    seen = shape.size() == 3 ? graph_.unsqueeze(seen, 1) : graph_.reshape(seen, {batch, 1, 1, all});
    const TensorIndex hidden = graph_.add("Sub", {graph_.number(type, 1), seen});
    add_to_scores(graph_.add("Mul", {hidden, graph_.number(type, filter_)}));
  }

  void add_to_scores(TensorIndex value) {
    if (value != kAbsent) added_ = added_ == kAbsent ? value : graph_.add("Add", {added_, value});
  }

  /// With 'unidirectional', a query sees all past keys, and new ones up to its own position.
  void add_order(int64_t queries, int64_t past, DType type) {
    if (!node_.flag("unidirectional", false)) return;
    std::vector<int64_t> last(static_cast<size_t>(queries));
    std::iota(last.begin(), last.end(), past);
    const TensorIndex behind =
        graph_.add("Greater", {graph_.range(past + queries), graph_.unsqueeze(graph_.integers(last), 1)});
    add_to_scores(graph_.add("Where", {behind, graph_.number(type, filter_), graph_.number(type, 0)}));
  }

  /// Returns the result, the present keys and the present values.
  std::vector<TensorIndex> run(TensorIndex q, TensorIndex k, TensorIndex v, TensorIndex past_keys,
                               TensorIndex past_values) {
    Graph::Attributes attributes{{"q_num_heads", heads_}, {"kv_num_heads", heads_}};
    if (const double scale = node_.number("scale", 0); scale != 0) attributes["scale"] = scale;
    return graph_.add_all("Attention", {q, k, v, added_, past_keys, past_values}, attributes,
                          past_keys == kAbsent ? 1 : 3, 23);
  }

 private:
  const NodeReader& node_;
  Graph graph_;
  int64_t heads_ = 0;
  double filter_ = 0;
  TensorIndex added_ = kAbsent;
};

/// One product computes queries, keys and values side by side; attention follows.
bool microsoft_attention(const NodeReader& node, network::Expansion& to) {
  MicrosoftAttention made(node, to);
  Graph& graph = made.graph();
  node.refuse_unless(!node.flag("do_rotary", false) && !node.has(6),
                     "rotation and buffers of the past are not taken");
  for (const char* name : {"rotary_embedding_dim", "past_present_share_buffer"}) node.ignore(name);
  const Shape& x = node.shape(0);
  const DType type = node.dtype(0);
  node.refuse_unless(x.size() == 3 && node.rank(1) == 2, "expected [batch, tokens, width] and a matrix");
  const int64_t columns = node.shape(1)[1];
  const auto sizes = node.integers("qkv_hidden_sizes").value_or(std::vector<int64_t>(3, columns / 3));
  node.refuse_unless(sizes.size() == 3 && sizes[0] + sizes[1] + sizes[2] == columns,
                     "its weights have other columns than attribute 'qkv_hidden_sizes' asks for");
  TensorIndex all = graph.add("MatMul", {node.input(0), node.input(1)});
  if (node.has(2)) all = graph.add("Add", {all, node.input(2)});
  const auto part = [&](size_t i) {
    const int64_t begin = i == 0 ? 0 : i == 1 ? sizes[0] : sizes[0] + sizes[1];
    return graph.slice(all, 2, begin, begin + sizes[i]);
  };
  const int64_t past = node.has(4) ? node.shape(4).at(3) : 0;
  made.add_mask(3, x[0], past + x[1], type);
  made.add_to_scores(node.input(5));
  made.add_order(x[1], past, type);
  const auto of_past = [&](int64_t i) { return node.has(4) ? graph.take(node.input(4), 0, i) : kAbsent; };
  const auto outputs = made.run(part(0), part(1), part(2), of_past(0), of_past(1));
  to.give(0, outputs[0]);
  if (!node.wants(1)) return true;
  node.refuse_unless(outputs.size() == 3, "its output 'present' without a past is not there yet");
  to.give(1, graph.stack({outputs[1], outputs[2]}, 0));
  return true;
}

bool multi_head_attention(const NodeReader& node, network::Expansion& to) {
  MicrosoftAttention made(node, to);
  Graph& graph = made.graph();
  node.refuse_unless(node.rank(0) == 3 && node.has(1) && node.rank(1) == 3 && node.has(2) &&
                         node.rank(2) == 3 && !node.has(8) && !node.has(9),
                     "expected queries, keys and values [batch, tokens, heads * width]");
  const Shape &q = node.shape(0), &k = node.shape(1), &v = node.shape(2);
  std::vector<TensorIndex> operands;
  int64_t begin = 0;
  for (size_t i = 0; i < 3; ++i) {
    const int64_t width = node.shape(i)[2];
    operands.push_back(node.input(i));
    if (node.has(3))
      operands.back() =
          graph.add("Add", {operands.back(), graph.slice(node.input(3), 0, begin, begin + width)});
    begin += width;
  }
  node.refuse_unless(!node.has(3) || node.shape(3) == Shape{q[2] + k[2] + v[2]},
                     "its bias is not one value for each column");
  const int64_t past = node.has(6) ? node.shape(6).at(2) : 0;
  made.add_mask(4, q[0], past + k[1], node.dtype(0));
  made.add_to_scores(node.input(5));
  made.add_order(q[1], past, node.dtype(0));
  const auto outputs = made.run(operands[0], operands[1], operands[2], node.input(6), node.input(7));
  node.refuse_unless((!node.wants(1) && !node.wants(2)) || outputs.size() == 3,
                     "its present keys and values without a past are not there yet");
  for (size_t i = 0; i < outputs.size(); ++i) to.give(i, outputs[i]);
  return true;
}

/// Rotates by given positions, or by positions that count up from a given one.
TensorIndex microsoft_rotary_embedding(const NodeReader& node, Graph& graph) {
  const Shape& x = node.shape(0);
  node.refuse_unless(x.size() == 3 || x.size() == 4, "expected three or four axes");
  node.refuse_unless(node.number("scale", 1) == 1 && !node.flag("is_packed_batching", false),
                     "attributes 'scale' and 'is_packed_batching' are not taken");
  int64_t heads = node.integer("num_heads", 0);
  const int64_t rotated = node.integer("rotary_embedding_dim", 0);
  if (x.size() == 3 && heads == 0) heads = x[2] / (2 * node.shape(2).at(1));
  const int64_t length = x.size() == 4 ? x[2] : x[1];
  TensorIndex positions = node.input(1);
  if (element_count(node.shape(1)) == 1 && node.shape(1) != Shape{x[0], length}) {
    positions = graph.add("Expand", {graph.add("Add", {graph.range(length), graph.reshape(positions, {1})}),
                                     graph.integers({x[0], length})});
  }
  return graph.add_all("RotaryEmbedding", {node.input(0), node.input(2), node.input(3), positions},
                       {{"num_heads", heads},
                        {"interleaved", node.integer("interleaved", 0)},
                        {"rotary_embedding_dim", rotated}},
                       1, 23)[0];
}

/// Adds the embeddings of words, positions and segments, and normalizes the sum.
bool embed_layer_normalization(const NodeReader& node, network::Expansion& to) {
  Graph graph(to);
  node.refuse_unless(node.rank(0) == 2, "expected words [batch, tokens]");
  node.refuse_unless(node.integer("mask_index_type", 0) == 0, "attribute 'mask_index_type' is not 0");
  const Shape& words = node.shape(0);
  const Graph::Attributes rows{{"axis", int64_t{0}}};
  TensorIndex sum = graph.add("Gather", {node.input(2), node.input(0)}, rows);
  TensorIndex places = node.input(8);
  if (places == kAbsent) places = graph.range(words[1]);
  sum = graph.add("Add", {sum, graph.add("Gather", {node.input(3), places}, rows)});
  if (node.has(1) && node.has(4))
    sum = graph.add("Add", {sum, graph.add("Gather", {node.input(4), node.input(1)}, rows)});
  to.give(0, graph.add("LayerNormalization", {sum, node.input(5), node.input(6)},
                       {{"axis", int64_t{-1}}, {"epsilon", node.number("epsilon", 1e-12)}}));
  if (node.wants(1)) {
    const TensorIndex counts =
        node.has(7) ? graph.add("ReduceSum", {node.input(7), graph.integers({1})}, {{"keepdims", int64_t{0}}})
                    : graph.integers(std::vector<int64_t>(static_cast<size_t>(words[0]), 0));
    to.give(1, graph.cast(counts, kI32));
  }
  to.give(2, sum);
  return true;
}

}  // namespace

std::vector<Row> microsoft_operators() {
  const auto row = [](std::string_view name, Expand expand) {
    return Row{name, 1, never_defined, false, false, std::move(expand)};
  };
  const std::vector<std::string> pooling{"auto_pad",     "ceil_mode", "count_include_pad",
                                         "kernel_shape", "pads",      "strides"};
  return {row("com.microsoft.QLinearConcat", giving(q_linear_concat)),
          row("com.microsoft.QLinearSoftmax", giving(q_linear_softmax)),
          row("com.microsoft.QLinearAveragePool", between("AveragePool", pooling, {"channels_last"})),
          row("com.microsoft.QLinearGlobalAveragePool", between("GlobalAveragePool", {}, {"channels_last"})),
          row("com.microsoft.QGemm", giving(q_gemm)),
          row("com.microsoft.MatMulIntegerToFloat", giving(mat_mul_integer_to_float)),
          row("com.microsoft.DynamicQuantizeMatMul", giving(dynamic_quantize_mat_mul)),
          row("com.microsoft.Attention", microsoft_attention),
          row("com.microsoft.MultiHeadAttention", multi_head_attention),
          row("com.microsoft.RotaryEmbedding", giving(microsoft_rotary_embedding)),
          row("com.microsoft.EmbedLayerNormalization", embed_layer_normalization)};
}

}  // namespace tunesmith::operators_onnx
