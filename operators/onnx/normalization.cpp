// Normalizations.
#include <fmt/format.h>

#include "reduced.h"
#include "registry.h"

namespace tunesmith::operators_onnx {
namespace {

DType floating_type(const NodeReader& node) {
  node.refuse_unless(node.dtype(0).is_float(), "expected floating values");
  return node.dtype(0);
}

/// An input, converted to the type `type` and broadcast to the first input's shape.
std::string operand(const NodeReader& node, size_t input, DType type) {
  const Shape& shape = node.shape(0);
  node.refuse_unless(broadcast_shape(node, shape, node.shape(input)) == shape,
                     fmt::format("input {} does not broadcast to the first input's shape", input));
  return convert(node.dtype(input), type, broadcast(in(input), node.shape(input), shape));
}

/// The element of an input with one value for each channel.
std::string of_channel(const NodeReader& node, size_t input, int64_t channels, DType type,
                       const std::string& at = "i1") {
  node.refuse_unless(node.shape(input) == Shape{channels},
                     fmt::format("input {} is not one value for each channel", input));
  return convert(node.dtype(input), type, element(in(input), {at}));
}

int64_t channels_of(const NodeReader& node) {
  node.refuse_unless(node.rank(0) >= 2, "expected [batch, channels, ...]");
  return node.shape(0)[1];
}

/// Statements that compute the mean of x, and a function of its variance, as arrays over `reduced.output`.
struct Moments {
  std::string mean;
  std::string deviation;
  std::string text;
};

/// `deviation_of`: a pattern, in which {} is the variance.
Moments moments(const Reduced& reduced, const std::string& x, std::string_view deviation_of,
                std::string mean = temporary(1), std::string deviation = temporary(3)) {
  Moments made{std::move(mean), std::move(deviation), {}};
  const Shape& shape = reduced.output;
  const auto average = [&](size_t number) {
    return fmt::format("{} / {}", here(temporary(number), shape), reduced.count());
  };
  const std::string square = fmt::format("({0} - {1}) * ({0} - {1})", x, here(made.mean, shape));
  made.text = statement(temporary(0), shape, reduced.reduction("sum", x)) +
              statement(made.mean, shape, average(0)) +
              statement(temporary(2), shape, reduced.reduction("sum", square)) +
              statement(made.deviation, shape, fmt::format(fmt::runtime(deviation_of), average(2)));
  return made;
}

/// The pattern of 1 / sqrt(variance + attribute 'epsilon').
std::string inverse_root(const NodeReader& node) {
  return fmt::format("rsqrt({{}} + {})", literal(node, node.number("epsilon", 1e-5)));
}

/// (x - mean) * deviation, for an element x of the input.
std::string normalized(const Moments& made, const std::string& x, const Indices& of_kept) {
  return fmt::format("({} - {}) * {}", x, element(made.mean, of_kept), element(made.deviation, of_kept));
}

/// Inference only: the factors depend on the channel alone.
Computation batch_normalization(const NodeReader& node) {
  node.ignore("momentum");
  const DType dtype = floating_type(node);
  node.refuse_unless(!node.flag("training_mode", false), "training is not taken");
  if (node.version() < 7) node.refuse_unless(node.flag("is_test", false), "training is not taken");
  node.refuse_unless(node.flag("spatial", true), "attribute 'spatial' is 0");
  node.refuse_outputs_after(1, "mean");
  const int64_t channels = channels_of(node);
  const DType type = wide(dtype);
  const Shape of_channels{channels};
  const auto input = [&](size_t number) { return of_channel(node, number, channels, type, "i0"); };
  std::string text = statement(
      temporary(0), of_channels,
      fmt::format("{} * rsqrt({} + {})", input(1), input(4), literal(node, node.number("epsilon", 1e-5))));
  text +=
      statement(temporary(1), of_channels, fmt::format("{} - {} * {}[i0]", input(2), input(3), temporary(0)));
  const Shape& shape = node.shape(0);
  const std::string value =
      fmt::format("{} * {}[i1] + {}[i1]", to_wide(dtype, here(in(0), shape)), temporary(0), temporary(1));
  return finished(dtype, shape, text, value);
}

Computation layer_normalization(const NodeReader& node) {
  const DType dtype = floating_type(node);
  node.ignore("stash_type");  // sums are of f32 at least
  const DType type = wide(dtype);
  const Shape& shape = node.shape(0);
  const Reduced reduced =
      reduce(shape, axes_from(node.axis(node.integer("axis", -1), shape.size()), shape.size()), true);
  const Moments made = moments(reduced, to_wide(dtype, element(in(0), reduced.read)), inverse_root(node),
                               node.wants(1) ? out(1) : temporary(1), node.wants(2) ? out(2) : temporary(3));
  std::string value =
      normalized(made, to_wide(dtype, here(in(0), shape)), reduced.of_kept) + " * " + operand(node, 1, type);
  if (node.has(2)) value += " + " + operand(node, 2, type);
  Computation result = finished(dtype, shape, made.text, value);
  while (result.outputs.size() < node.output_count()) result.outputs.push_back({type, reduced.output});
  return result;
}

Computation rms_normalization(const NodeReader& node) {
  const DType dtype = floating_type(node);
  node.ignore("stash_type");
  const DType type = wide(dtype);
  const Shape& shape = node.shape(0);
  const Reduced reduced =
      reduce(shape, axes_from(node.axis(node.integer("axis", -1), shape.size()), shape.size()), true);
  const std::string x = to_wide(dtype, element(in(0), reduced.read));
  std::string text =
      statement(temporary(0), reduced.output, reduced.reduction("sum", fmt::format("{0} * {0}", x)));
  text += statement(temporary(1), reduced.output,
                    fmt::format("rsqrt({} / {} + {})", here(temporary(0), reduced.output), reduced.count(),
                                literal(node, node.number("epsilon", 1e-5))));
  const std::string value = fmt::format("{} * {} * {}", to_wide(dtype, here(in(0), shape)),
                                        element(temporary(1), reduced.of_kept), operand(node, 1, type));
  const DType result = node.dtype(1);
  return computed(result, shape, text + statement(out(0), shape, convert(type, result, value)));
}

Computation instance_normalization(const NodeReader& node) {
  const DType dtype = floating_type(node);
  const DType type = wide(dtype);
  const int64_t channels = channels_of(node);
  const Shape& shape = node.shape(0);
  node.refuse_unless(shape.size() >= 3, "expected [batch, channels, ...]");
  const Reduced reduced = reduce(shape, axes_from(2, shape.size()), true);
  const Moments made = moments(reduced, to_wide(dtype, element(in(0), reduced.read)), inverse_root(node));
  const std::string value = normalized(made, to_wide(dtype, here(in(0), shape)), reduced.of_kept) + " * " +
                            of_channel(node, 1, channels, type) + " + " + of_channel(node, 2, channels, type);
  return finished(dtype, shape, made.text, value);
}

Computation group_normalization(const NodeReader& node) {
  const DType dtype = floating_type(node);
  node.ignore("stash_type");
  const DType type = wide(dtype);
  const int64_t channels = channels_of(node);
  const int64_t groups = node.integer("num_groups", 0);
  node.refuse_unless(groups >= 1 && channels % groups == 0,
                     "attribute 'num_groups' does not divide the channels");
  const Shape& shape = node.shape(0);
  const int64_t size = channels / groups;
  // Reads the input as [batch, groups, channels of a group, ...].
  Shape grouped{shape[0], groups, size};
  grouped.insert(grouped.end(), shape.begin() + 2, shape.end());
  const Reduced reduced = reduce(grouped, axes_from(2, grouped.size()), false);
  Indices at{"i0", fmt::format("i1*{} + r0", size)};
  at.insert(at.end(), reduced.read.begin() + 3, reduced.read.end());
  const Moments made = moments(reduced, to_wide(dtype, element(in(0), at)), inverse_root(node));
  const std::string group = fmt::format("i1 // {}", size);
  const bool by_channel =
      node.version() >= 21;  // before version 21, scale and bias had one value for each group
  const auto input = [&](size_t number) {
    return of_channel(node, number, by_channel ? channels : groups, type, by_channel ? "i1" : group);
  };
  const std::string value = normalized(made, to_wide(dtype, here(in(0), shape)), {"i0", group}) + " * " +
                            input(1) + " + " + input(2);
  return finished(dtype, shape, made.text, value);
}

/// A row of zeros stays zero: its norm counts as 1.
Computation lp_normalization(const NodeReader& node) {
  const DType dtype = floating_type(node);

  const int64_t p = node.integer("p", 2);
  node.refuse_unless(p == 1 || p == 2, "attribute 'p' is neither 1 nor 2");
  const Shape& shape = node.shape(0);
  const Reduced reduced = reduce(shape, {node.axis(node.integer("axis", -1), shape.size())}, true);
  const std::string x = to_wide(dtype, element(in(0), reduced.read));
  std::string text =
      statement(temporary(0), reduced.output,
                reduced.reduction("sum", p == 1 ? fmt::format("abs({})", x) : fmt::format("{0} * {0}", x)));
  const std::string sum = element(temporary(0), reduced.of_kept);
  const std::string norm = p == 1 ? sum : fmt::format("sqrt({})", sum);
  const std::string value =
      fmt::format("{} / select({} == 0, 1, {})", to_wide(dtype, here(in(0), shape)), sum, norm);
  return finished(dtype, shape, text, value);
}

Computation mean_variance_normalization(const NodeReader& node) {
  const DType dtype = floating_type(node);

  const Shape& shape = node.shape(0);
  const std::vector<int64_t> axes = node.integers("axes").value_or(std::vector<int64_t>{0, 2, 3});
  const Reduced reduced = reduce(shape, node.axes(axes, shape.size()), true);
  const Moments made = moments(reduced, to_wide(dtype, element(in(0), reduced.read)), "sqrt({}) + 1e-9");
  return finished(dtype, shape, made.text,
                  fmt::format("({} - {}) / {}", to_wide(dtype, here(in(0), shape)),
                              element(made.mean, reduced.of_kept), element(made.deviation, reduced.of_kept)));
}

/// Sums squares over neighbouring channels.
Computation local_response_normalization(const NodeReader& node) {
  const DType dtype = node.dtype(0);
  node.refuse_unless(dtype.is_float() && node.rank(0) >= 2,
                     "expected floating values as [batch, channels, ...]");
  const int64_t size = node.integer("size", 0);
  node.refuse_unless(size >= 1, "attribute 'size' is below 1");
  const Shape& shape = node.shape(0);
  Indices at = axis_names(shape.size());
  at[1] = fmt::format("i1 + r0 - {}", (size - 1) / 2);
  const std::string near = to_wide(dtype, fmt::format("inside({}, 0)", element(in(0), at)));
  const std::string value = fmt::format("{} / pow({} + {} * {}, {})", to_wide(dtype, here(in(0), shape)),
                                        literal(node, node.number("bias", 1.0)),
                                        literal(node, node.number("alpha", 1e-4) / static_cast<double>(size)),
                                        here(temporary(0), shape), literal(node, node.number("beta", 0.75)));
  return finished(dtype, shape,
                  statement(temporary(0), shape, reduction("sum", {"r0"}, {size}, near + " * " + near)),
                  value);
}

}  // namespace

std::vector<Row> normalization_operators() {
  return {
      {"BatchNormalization", 6, batch_normalization},
      {"LayerNormalization", 17, layer_normalization},
      {"RMSNormalization", 23, rms_normalization},
      // onnxruntime registers this one in ONNX's own domain.
      {"SimplifiedLayerNormalization", 1, rms_normalization},
      {"InstanceNormalization", 6, instance_normalization},
      {"GroupNormalization", 18, group_normalization},
      {"LpNormalization", 1, lp_normalization},
      {"LRN", 1, local_response_normalization},
      {"MeanVarianceNormalization", 9, mean_variance_normalization},
  };
}

}  // namespace tunesmith::operators_onnx
