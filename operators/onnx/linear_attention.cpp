// LinearAttention: each head has a state that each token updates and reads.
#include <algorithm>
#include <cmath>

#include <fmt/format.h>

#include "graph.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

/// Writes out the steps of one node as matrix products and element-wise nodes.
class LinearAttention {
 public:
  LinearAttention(const NodeReader& node, network::Expansion& to) : node_(node), graph_(to) {
    rule_ = node.choice("update_rule", {"gated_delta", "linear", "gated", "delta"});
    node.ignore("chunk_size");
    const Shape& q = node.shape(0);
    node.refuse_unless(q.size() == 3 && node.rank(1) == 3 && node.rank(2) == 3 && node.dtype(0).is_float(),
                       "expected floating values [batch, tokens, heads * width]");
    query_heads_ = node.integer("q_num_heads", 0);
    heads_ = node.integer("kv_num_heads", 0);
    node.refuse_unless(heads_ > 0 && query_heads_ > 0 && query_heads_ % heads_ == 0,
                       "'q_num_heads' is not a multiple of 'kv_num_heads'");
    batch_ = q[0];
    tokens_ = q[1];
    keys_ = node.shape(1)[2] / heads_;
    values_ = node.shape(2)[2] / heads_;
    node.refuse_unless(q[2] == query_heads_ * keys_ &&
                           node.shape(1) == Shape{batch_, tokens_, heads_ * keys_} &&
                           node.shape(2) == Shape{batch_, tokens_, heads_ * values_} && tokens_ > 0,
                       "its inputs have other shapes than its numbers of heads ask for");
    type_ = wide(node.dtype(0));
    scale_ = node.number("scale", 0);
    if (scale_ == 0) scale_ = 1 / std::sqrt(static_cast<double>(keys_));
  }

  void replace(network::Expansion& to) {
    const TensorIndex query = heads_of(0, query_heads_, keys_), key = heads_of(1, heads_, keys_),
                      value = heads_of(2, heads_, values_);
    const bool is_gated = rule_.starts_with("gated"), is_delta = rule_.ends_with("delta");
    TensorIndex decay = kAbsent, rate = kAbsent;
    if (is_gated) {
      node_.refuse_unless(node_.rank(4) == 3, "its input 'decay' is missing");
      decay = graph_.add("Exp", {heads_of(4, heads_, node_.shape(4)[2] / heads_)});
    }
    if (is_delta) {
      node_.refuse_unless(node_.rank(5) == 3, "its input 'beta' is missing");
      rate = heads_of(5, node_.shape(5)[2], 1);
    }
    TensorIndex state = kAbsent;
    if (node_.has(3)) state = graph_.cast(node_.input(3), type_);
    std::vector<TensorIndex> outputs;
    for (int64_t t = 0; t < tokens_; ++t) {
      const auto now = [&](TensorIndex of) { return graph_.slice(of, 2, t, t + 1); };
      const TensorIndex k = graph_.transpose(now(key), {0, 1, 3, 2});  // [batch, heads, keys, 1]
      if (is_gated && state != kAbsent)
        state = graph_.add("Mul", {state, graph_.transpose(now(decay), {0, 1, 3, 2})});
      TensorIndex v = now(value);
      if (is_delta) {
        if (state != kAbsent) v = graph_.add("Sub", {v, graph_.add("MatMul", {now(key), state})});
        v = graph_.add("Mul", {v, now(rate)});
      }
      const TensorIndex product = graph_.add("Mul", {k, v});
      state = state == kAbsent ? product : graph_.add("Add", {state, product});
      // The query heads that share a key head are rows of one product.
      const int64_t group = query_heads_ / heads_;
      const TensorIndex q = graph_.reshape(now(query), {batch_, heads_, group, keys_});
      outputs.push_back(
          graph_.reshape(graph_.add("MatMul", {q, state}), {batch_, 1, query_heads_ * values_}));
    }
    const TensorIndex all =
        graph_.add("Mul", {graph_.concat(std::move(outputs), 1), graph_.number(type_, scale_)});
    to.give(0, graph_.cast(all, node_.dtype(0)));
    if (node_.wants(1)) to.give(1, graph_.cast(state, node_.has(3) ? node_.dtype(3) : node_.dtype(0)));
  }

 private:
  /// The input as [batch, heads, tokens, width].
  TensorIndex heads_of(size_t number, int64_t heads, int64_t width) {
    node_.refuse_unless(node_.shape(number) == Shape{batch_, tokens_, heads * width},
                        fmt::format("input {} has another shape than its numbers of heads ask for", number));
    return graph_.transpose(
        graph_.reshape(graph_.cast(node_.input(number), type_), {batch_, tokens_, heads, width}),
        {0, 2, 1, 3});
  }

  const NodeReader& node_;
  Graph graph_;
  std::string rule_;
  int64_t query_heads_ = 0, heads_ = 0, batch_ = 0, tokens_ = 0, keys_ = 0, values_ = 0;
  DType type_;
  double scale_ = 0;
};

bool replace_linear_attention(const NodeReader& node, network::Expansion& to) {
  LinearAttention(node, to).replace(to);
  return true;
}

/// Two products and a softmax; the node's bodies modify what lies between them.
bool replace_flex_attention(const NodeReader& node, network::Expansion& to) {
  node.refuse_unless(node.rank(0) == 4 && node.rank(1) == 4 && node.rank(2) == 4 && node.dtype(0).is_float(),
                     "expected floating values [batch, heads, tokens, width]");
  const Shape &q = node.shape(0), &k = node.shape(1), &v = node.shape(2);
  node.refuse_unless(k[1] > 0 && q[1] % k[1] == 0 && v[1] == k[1],
                     "the heads of queries are not a multiple of those of keys");
  const DType dtype = node.dtype(0);
  const DType inner = node.has_attribute("softmax_precision")
                          ? type_of_number(node, node.integer("softmax_precision", 1))
                      : dtype == kF64 ? kF64
                                      : kF32;
  Graph graph(to);
  const double scale = node.number("scale", 1 / std::sqrt(static_cast<double>(q[3])));
  const int64_t group = q[1] / k[1];
  // The query heads that share a key head are rows of one product.
  const auto input = [&](size_t i) { return graph.cast(node.input(i), inner); };
  const TensorIndex queries = graph.reshape(input(0), {q[0], k[1], group * q[2], q[3]});
  TensorIndex scores = graph.add("MatMul", {queries, graph.transpose(input(1), {0, 1, 3, 2})});
  scores = graph.reshape(graph.add("Mul", {scores, graph.number(inner, scale)}), {q[0], q[1], q[2], k[2]});
  const auto modified = [&](const char* attribute, TensorIndex x) {
    const auto& bodies = node.node().bodies;
    const bool is_there = std::ranges::find(bodies, attribute, &network::Body::name) != bodies.end();
    return is_there ? to.add_body(node.body(attribute), {x}).at(0) : x;
  };
  scores = modified("score_mod", scores);
  TensorIndex parts = graph.add("Softmax", {scores}, {{"axis", int64_t{-1}}});
  parts = graph.reshape(modified("prob_mod", parts), {q[0], k[1], group * q[2], k[2]});
  const TensorIndex result = graph.reshape(graph.add("MatMul", {parts, input(2)}), {q[0], q[1], q[2], v[3]});
  to.give(0, graph.cast(result, dtype));
  return true;
}

}  // namespace

std::vector<Row> linear_attention_operators() {
  return {{"LinearAttention", 27, never_defined, false, false, replace_linear_attention},
          {"ai.onnx.preview.FlexAttention", 1, never_defined, false, false, replace_flex_attention}};
}

}  // namespace tunesmith::operators_onnx
