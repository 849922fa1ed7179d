// Attention of the operator sets from 23 on: products, scores with a mask, softmax.
#include <cmath>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry.h"
#include "statements.h"

namespace tunesmith::operators_onnx {
namespace {

enum Input : size_t { kQuery, kKey, kValue, kMask, kPastKey, kPastValue, kKeyLengths };
enum Output : size_t { kResult, kPresentKey, kPresentValue, kScores };

/// The shape of one of the three operands: [batch, heads, length, width], or [batch, length, heads * width].
struct Operand {
  int64_t batch = 0, heads = 0, length = 0, width = 0;
  bool is_flat = false;

  std::string at(size_t input, const std::string& b, const std::string& h, const std::string& s,
                 const std::string& d) const {
    return is_flat ? element(in(input), {b, s, fmt::format("{}*{} + {}", h, width, d)})
                   : element(in(input), {b, h, s, d});
  }
};

Operand read_operand(const NodeReader& node, size_t input, std::string_view heads) {
  const Shape& shape = node.shape(input);
  node.refuse_unless(shape.size() == 3 || shape.size() == 4, "expected operands of three or four axes");
  const int64_t given = node.integer(heads, 0);
  if (shape.size() == 4) {
    node.refuse_unless(given == 0 || given == shape[1],
                       fmt::format("attribute '{}' is not the operand's number of heads", heads));
    return {shape[0], shape[1], shape[2], shape[3], false};
  }
  node.refuse_unless(given >= 1 && shape[2] % given == 0,
                     fmt::format("attribute '{}' does not divide the operand's last axis", heads));
  return {shape[0], given, shape[1], shape[2] / given, true};
}

class Attending {
 public:
  explicit Attending(const NodeReader& node)
      : node_(node),
        dtype_(node.dtype(kQuery)),
        type_(wide(dtype_)),
        q_(read_operand(node, kQuery, "q_num_heads")),
        k_(read_operand(node, kKey, "kv_num_heads")),
        v_(read_operand(node, kValue, "kv_num_heads")) {
    check();
    past_ = node.has(kPastKey) ? node.shape(kPastKey)[2] : 0;
    scores_ = {q_.batch, q_.heads, q_.length, past_ + k_.length};
    if (node.version() >= 25) {
      left_ = node.integer("left_window_size", -1);
      right_ = node.integer("right_window_size", -1);
    }
    node.ignore("softmax_precision");  // nothing is computed in less than f32
  }

  Computation run() {
    const Shape present_key{k_.batch, k_.heads, scores_[3], k_.width};
    const Shape present_value{v_.batch, v_.heads, scores_[3], v_.width};
    add_present(kKey, k_, kPastKey, kPresentKey, present_key);
    add_present(kValue, v_, kPastValue, kPresentValue, present_value);
    add_scores();
    add_softmax();
    add_result();
    Shape result{q_.batch, q_.heads, q_.length, v_.width};
    if (q_.is_flat) result = {q_.batch, q_.length, q_.heads * v_.width};
    Computation made{{{dtype_, result}}, {}, script_.text};
    for (const Shape& shape : {present_key, present_value, scores_}) made.outputs.push_back({dtype_, shape});
    made.outputs.resize(std::max<size_t>(node_.output_count(), 1));
    return made;
  }

 private:
  void check() const {
    const auto fits = [&](bool condition, std::string_view what) {
      node_.refuse_unless(condition, std::string(what));
    };
    fits(dtype_.is_float() && node_.dtype(kKey) == dtype_ && node_.dtype(kValue) == dtype_,
         "expected operands of floating values, of one type");
    fits(q_.is_flat == k_.is_flat && k_.is_flat == v_.is_flat, "its operands have different numbers of axes");
    fits(k_.batch == q_.batch && v_.batch == q_.batch && k_.heads == v_.heads && k_.length == v_.length,
         "the shapes of its operands do not fit");
    fits(q_.width == k_.width && q_.heads % k_.heads == 0, "the heads of queries and keys do not fit");
    fits(node_.has(kPastKey) == node_.has(kPastValue), "a past without keys, or without values");
    if (node_.has(kPastKey))
      fits(node_.rank(kPastKey) == 4 && node_.dtype(kPastKey) == dtype_ &&
               node_.dtype(kPastValue) == dtype_ &&
               node_.shape(kPastKey) == Shape{k_.batch, k_.heads, node_.shape(kPastKey)[2], k_.width} &&
               node_.shape(kPastValue) == Shape{v_.batch, v_.heads, node_.shape(kPastKey)[2], v_.width},
           "the past does not fit the keys and values");
    if (node_.has(kKeyLengths))
      fits(!node_.has(kPastKey) && node_.shape(kKeyLengths) == Shape{q_.batch} &&
               node_.dtype(kKeyLengths) == kI64,
           "'nonpad_kv_seqlen' is not one i64 for each batch, or there is a past");
  }

  /// Appends the new keys or values to the past ones, where there is a past or the output is wanted.
  void add_present(size_t input, const Operand& operand, size_t past, size_t output, const Shape& shape) {
    if (past_ == 0 && !node_.wants(output)) return;
    const std::string added = past_ == 0
                                  ? operand.at(input, "i0", "i1", "i2", "i3")
                                  : operand.at(input, "i0", "i1", fmt::format("(i2 - {})", past_), "i3");
    const std::string value =
        past_ == 0 ? added : fmt::format("select(i2 < {}, {}, {})", past_, here(in(past), shape), added);
    const std::string name = node_.wants(output) ? out(output) : temporary(script_.temporaries++);
    script_.text += statement(name, shape, value);
    if (past_ > 0) (input == kKey ? keys_ : values_) = name;
  }

  /// An element of all keys or values, past ones included, of the query's head.
  std::string all_at(size_t input, const std::string& s, const std::string& d) const {
    const Operand& operand = input == kKey ? k_ : v_;
    const int64_t group = q_.heads / k_.heads;
    const std::string head = group == 1 ? "i1" : fmt::format("(i1 // {})", group);
    const std::string& joined = input == kKey ? keys_ : values_;
    return joined.empty() ? operand.at(input, "i0", head, s, d) : element(joined, {"i0", head, s, d});
  }

  void give_scores(int64_t mode, const std::string& value) {
    if (node_.wants(kScores) && node_.integer("qk_matmul_output_mode", 0) == mode)
      script_.text += statement(out(kScores), scores_, from_wide(dtype_, value));
  }

  void add_scores() {
    const int64_t mode = node_.integer("qk_matmul_output_mode", 0);
    node_.refuse_unless(mode >= 0 && mode <= 3, "attribute 'qk_matmul_output_mode' is not 0 to 3");
    const double scale = node_.number("scale", 1 / std::sqrt(static_cast<double>(q_.width)));
    const std::string product = to_wide(dtype_, q_.at(kQuery, "i0", "i1", "i2", "r0")) + " * " +
                                to_wide(dtype_, all_at(kKey, "i3", "r0"));
    const std::string sum = script_.make(scores_, reduction("sum", {"r0"}, {q_.width}, product));
    std::string value = fmt::format("{} * {}", here(sum, scores_), literal(node_, scale));
    give_scores(0, value);
    const double cap = node_.number("softcap", 0);
    node_.refuse_unless(cap >= 0, "attribute 'softcap' is below 0");
    if (cap > 0) value = fmt::format("tanh({} / {}) * {}", value, literal(node_, cap), literal(node_, cap));
    give_scores(1, value);
    masked_ = script_.make(scores_, with_mask(value));
    give_scores(2, here(masked_, scores_));
  }

  std::string with_mask(std::string value) const {
    std::vector<std::string> allowed;
    const std::string offset = node_.has(kKeyLengths)
                                   ? fmt::format("(i2 + in{}[i0] - {})", kKeyLengths, q_.length)
                                   : fmt::format("(i2 + {})", past_);
    if (node_.flag("is_causal", false)) allowed.push_back(fmt::format("i3 <= {}", offset));
    if (left_ >= 0) allowed.push_back(fmt::format("{} - i3 <= {}", offset, left_));
    if (right_ >= 0) allowed.push_back(fmt::format("i3 - {} <= {}", offset, right_));
    if (node_.has(kKeyLengths)) allowed.push_back(fmt::format("i3 < in{}[i0]", kKeyLengths));
    if (node_.has(kMask)) {
      const std::string mask = mask_element();
      if (node_.dtype(kMask).is_bool())
        allowed.push_back(mask);
      else
        value = fmt::format("{} + {}", value, to_wide(dtype_, mask));
    }
    return allowed.empty() ? value : fmt::format("select({}, {}, -inf)", fmt::join(allowed, " and "), value);
  }

  /// Keys behind the mask's last column are not attended to.
  std::string mask_element() const {
    Shape shape = node_.shape(kMask);
    const bool is_bool = node_.dtype(kMask).is_bool();
    node_.refuse_unless(is_bool || node_.dtype(kMask) == dtype_, "the mask is of another type");
    node_.refuse_unless(!shape.empty() && shape.size() <= 4, "the mask has more than four axes, or none");
    const int64_t columns = shape.back();
    node_.refuse_unless(columns > 1 || scores_[3] == 1,
                        "a mask of one column for several keys: tools differ in what it means");
    node_.refuse_unless(columns <= scores_[3], "the mask has more columns than there are keys");
    Shape full = shape;
    full.back() = scores_[3];
    node_.refuse_unless(broadcast_shape(node_, full, scores_) == scores_,
                        "the mask does not broadcast to the scores");
    const std::string value = broadcast(in(kMask), shape, scores_);
    if (columns == scores_[3]) return value;
    return fmt::format("inside({}, {})", value, is_bool ? "false" : "-inf");
  }

  /// A row whose keys are all masked becomes zeros: the maximum with `lowest` makes its exponentials 0, that
  /// with 1 its sum 1. In every other row the largest score alone contributes 1 to the sum.
  void add_softmax() {
    const Shape rows{scores_[0], scores_[1], scores_[2]};
    const char* lowest = type_ == kF64 ? "(-1.7976931348623157e308)" : "(-3.4028234663852886e38)";
    const std::string largest = script_.make(
        rows, reduction("max", {"r0"}, {scores_[3]}, element(masked_, {"i0", "i1", "i2", "r0"})));
    const std::string row = element(largest, {"i0", "i1", "i2"});
    const std::string power =
        script_.make(scores_, fmt::format("exp({} - {})", here(masked_, scores_),
                                          may_be_empty() ? fmt::format("max({}, {})", lowest, row) : row));
    const std::string sum =
        script_.make(rows, reduction("sum", {"r0"}, {scores_[3]}, element(power, {"i0", "i1", "i2", "r0"})));
    const std::string total = element(sum, {"i0", "i1", "i2"});
    weights_ = script_.make(scores_, fmt::format("{} / {}", here(power, scores_),
                                                 may_be_empty() ? fmt::format("max(1, {})", total) : total));
    give_scores(3, here(weights_, scores_));
  }

  bool may_be_empty() const {
    return node_.has(kMask) || node_.has(kKeyLengths) || left_ >= 0 || right_ >= 0;
  }

  void add_result() {
    const Shape shape{q_.batch, q_.heads, q_.length, v_.width};
    const std::string product =
        element(weights_, {"i0", "i1", "i2", "r0"}) + " * " + to_wide(dtype_, all_at(kValue, "r0", "i3"));
    const std::string sum = reduction("sum", {"r0"}, {scores_[3]}, product);
    if (!q_.is_flat && type_ == dtype_) {
      script_.text += statement(out(kResult), shape, sum);
      return;
    }
    const std::string name = script_.make(shape, sum);
    if (!q_.is_flat) {
      script_.text += statement(out(kResult), shape, from_wide(dtype_, here(name, shape)));
      return;
    }
    const std::string head = fmt::format("i2 // {}", v_.width), column = fmt::format("i2 % {}", v_.width);
    script_.text += statement(out(kResult), {q_.batch, q_.length, q_.heads * v_.width},
                              from_wide(dtype_, element(name, {"i0", head, "i1", column})));
  }

  const NodeReader& node_;
  DType dtype_, type_;
  Operand q_, k_, v_;
  int64_t past_ = 0, left_ = -1, right_ = -1;
  Shape scores_;
  Script script_;
  std::string masked_, weights_;
  std::string keys_, values_;  ///< the joined arrays, if there is a past
};

/// Which elements of a head are rotated, and where cosines and sines are found.
struct Rotation {
  size_t cosines, sines;  ///< numbers of these inputs
  std::string position;   ///< i64: the caches' row; "": they have a row for each batch and position
  bool interleaved;
  int64_t rotated;  ///< the rotated part of a head's width
};

/// Rotates heads of [batch, heads, length, width] or [batch, length, heads * width].
Computation rotate(const NodeReader& node, int64_t width, const Rotation& rotation) {
  const Shape& shape = node.shape(0);
  const DType dtype = node.dtype(0);
  const bool is_flat = shape.size() == 3;
  const std::string last = is_flat ? "i2" : "i3", step = is_flat ? "i1" : "i2";
  const std::string d = is_flat ? fmt::format("(i2 % {})", width) : last;
  const int64_t half = rotation.rotated / 2;
  const std::string column =
      rotation.interleaved ? fmt::format("{} // 2 % {}", d, half) : fmt::format("{} % {}", d, half);
  const std::string partner = rotation.interleaved
                                  ? fmt::format("min({1}, {0} // 2 * 2 + 1 - {0} % 2)", d, width - 1)
                                  : fmt::format("({} + {}) % {}", d, half, rotation.rotated);
  const std::string is_first =
      rotation.interleaved ? fmt::format("{} % 2 == 0", d) : fmt::format("{} < {}", d, half);
  const auto cached = [&](size_t input) {
    const Indices at = rotation.position.empty() ? Indices{"i0", step, column}
                                                 : Indices{fmt::format("at({})", rotation.position), column};
    return to_wide(dtype, element(in(input), at));
  };
  Indices at = axis_names(shape.size());
  const std::string x = to_wide(dtype, element(in(0), at));
  at.back() = is_flat ? fmt::format("i2 // {0} * {0} + {1}", width, partner) : partner;
  const std::string other = to_wide(dtype, element(in(0), at));
  std::string value = fmt::format("{0} * {1} + select({2}, -{3}, {3}) * {4}", cached(rotation.cosines), x,
                                  is_first, cached(rotation.sines), other);
  if (rotation.rotated < width) value = fmt::format("select({} < {}, {}, {})", d, rotation.rotated, value, x);
  return copied(node, shape, from_wide(dtype, value));
}

Computation rotary_embedding(const NodeReader& node) {
  const Shape& shape = node.shape(0);
  node.refuse_unless((shape.size() == 3 || shape.size() == 4) && node.dtype(0).is_float() &&
                         node.dtype(1) == node.dtype(0) && node.dtype(2) == node.dtype(0),
                     "expected three or four axes of floating values, and caches of their type");
  const int64_t heads = node.integer("num_heads", 0);
  node.refuse_unless(shape.size() == 4 || (heads >= 1 && shape[2] % heads == 0),
                     "attribute 'num_heads' does not divide the last axis");
  const int64_t width = shape.size() == 4 ? shape[3] : shape[2] / heads;
  const int64_t length = shape.size() == 4 ? shape[2] : shape[1];
  const int64_t given = node.integer("rotary_embedding_dim", 0);
  Rotation rotation{1, 2, "", node.flag("interleaved", false), given == 0 ? width : given};
  node.refuse_unless(rotation.rotated >= 2 && rotation.rotated % 2 == 0 && rotation.rotated <= width,
                     "the part that is rotated is not an even part of a head");
  Shape caches{shape[0], length, rotation.rotated / 2};
  if (node.has(3)) {
    node.refuse_unless(node.dtype(3) == kI64 && node.shape(3) == Shape{shape[0], length},
                       "'position_ids' is not one i64 for each batch and position");
    rotation.position = element(in(3), {"i0", shape.size() == 4 ? "i2" : "i1"});
    node.refuse_unless(node.rank(1) == 2, "the caches do not have two axes");
    caches = {node.shape(1)[0], rotation.rotated / 2};
  }
  node.refuse_unless(node.shape(1) == caches && node.shape(2) == caches,
                     fmt::format("the caches have another shape than [{}]", fmt::join(caches, ", ")));
  return rotate(node, width, rotation);
}

}  // namespace

std::vector<Row> attention_operators() {
  return {{"Attention", 23, [](const NodeReader& node) { return Attending(node).run(); }},
          {"RotaryEmbedding", 23, rotary_embedding}};
}

}  // namespace tunesmith::operators_onnx
