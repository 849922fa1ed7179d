// Losses of classes: X is [batch, classes, ...], the labels are [batch, ...].
#include <fmt/format.h>

#include "reduced.h"
#include "registry.h"

namespace tunesmith::operators_onnx {
namespace {

/// Reduces the losses of all elements. Its statements use the temporaries from t4 on.
class Loss {
 public:
  /// `scores`: the array of the classes' log-probabilities, of type `type`.
  Loss(const NodeReader& node, std::string scores, DType type)
      : node_(node),
        scores_(std::move(scores)),
        type_(type),
        shape_(node.shape(0)),
        reduced_(reduce(shape_, {1}, false)) {
    node.refuse_unless(shape_.size() >= 2, "expected [batch, classes, ...]");
    node.refuse_unless(node.shape(1) == reduced_.output,
                       "the labels do not have the shape of the input without classes");
    node.refuse_unless(node.dtype(1) == kI64 || node.dtype(1) == kI32, "the labels are not integers");
    if (node.has(2))
      node.refuse_unless(node.shape(2) == Shape{shape_[1]}, "the weights are not one for each class");
    ignored_ =
        node.has_attribute("ignore_index") ? std::optional(node.integer("ignore_index", 0)) : std::nullopt;
  }

  /// Returns the statements and the output's shape.
  std::pair<std::string, Shape> run() {
    const std::string mode = node_.choice("reduction", {"mean", "sum", "none"});
    const DType dtype = node_.dtype(0);
    const Shape& each = reduced_.output;
    const std::string losses =
        reduced_.reduction("sum", chosen(fmt::format("-{} * {}", element(scores_, reduced_.read), weight())));
    if (mode == "none")
      return {statement(temporary(4), each, losses) +
                  statement(out(0), each, convert(type_, dtype, here(temporary(4), each))),
              each};
    const Reduced all = reduce(each, axes_from(0, each.size()), false);
    std::string text = statement(temporary(4), each, losses) +
                       statement(temporary(5), {}, all.reduction("sum", element(temporary(4), all.read)));
    std::string value = element(temporary(5), {});
    if (mode == "mean") {
      text += statement(temporary(6), each, reduced_.reduction("sum", chosen(weight())));
      text += statement(temporary(7), {}, all.reduction("sum", element(temporary(6), all.read)));
      value += " / " + element(temporary(7), {});
    }
    return {text + statement(out(0), {}, convert(type_, dtype, value)), {}};
  }

 private:
  std::string weight() const {
    return node_.has(2) ? convert(node_.dtype(2), type_, element(in(2), {"r0"})) : typed(type_, "1");
  }

  /// `value` for the label's class, 0 for other classes and for the ignored label.
  std::string chosen(const std::string& value) const {
    Indices at = reduced_.read;
    at.erase(at.begin() + 1);
    std::string condition = fmt::format("i64({}) == r0", element(in(1), at));
    if (ignored_)
      condition += fmt::format(" and r0 != {}",
                               *ignored_ < 0 ? fmt::format("({})", *ignored_) : fmt::format("{}", *ignored_));
    return fmt::format("select({}, {}, 0)", condition, value);
  }

  const NodeReader& node_;
  std::string scores_;
  DType type_;
  Shape shape_;
  Reduced reduced_;
  std::optional<int64_t> ignored_;
};

Computation negative_log_likelihood(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == kF32 || dtype == kF64, "expected f32 or f64");
  auto [text, shape] = Loss(node, in(0), dtype).run();
  return computed(dtype, shape, text);
}

/// t0 to t3 compute LogSoftmax over the classes.
Computation softmax_cross_entropy(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype == kF32 || dtype == kF64, "expected f32 or f64");
  const Shape& shape = node.shape(0);
  const std::string scores = node.wants(1) ? out(1) : temporary(3);
  const std::string text = softmax_of_rows(node, {1}, true, scores);
  auto [loss, result] = Loss(node, scores, dtype).run();
  return {{{dtype, result}, {dtype, shape}}, {}, text + loss};
}

}  // namespace

std::vector<Row> loss_operators() {
  return {{"NegativeLogLikelihoodLoss", 12, negative_log_likelihood},
          {"SoftmaxCrossEntropyLoss", 12, softmax_cross_entropy}};
}

}  // namespace tunesmith::operators_onnx
