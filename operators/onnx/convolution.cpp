// Convolutions: X is [batch, channels, ...], W is [output channels, channels of a group, ...].
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"
#include "window.h"

namespace tunesmith::operators_onnx {
namespace {

/// Makes t0, the input with zeros around it.
std::string padded(const Window& window, const Shape& input) {
  Shape shape(input.begin(), input.begin() + 2);
  Indices at{"i0", "i1"};
  for (size_t i = 0; i < window.rank(); ++i) {
    shape.push_back(input[2 + i] + window.begin[i] + window.end[i]);
    at.push_back(fmt::format("i{} - {}", 2 + i, window.begin[i]));
  }
  return statement(temporary(0), shape, fmt::format("inside({}, 0)", element(in(0), at)));
}

void check_convolution(const NodeReader& node, int64_t groups) {
  const Shape& x = node.shape(0);
  const Shape& w = node.shape(1);
  node.refuse_unless(x.size() >= 3 && w.size() == x.size(),
                     "expected [batch, channels, ...] and a kernel of as many axes");
  node.refuse_unless(node.dtype(0).is_float() && node.dtype(0) == node.dtype(1),
                     "expected floating values of one type");
  node.refuse_unless(groups >= 1 && x[1] % groups == 0 && w[0] % groups == 0 && w[1] == x[1] / groups,
                     "the channels of input and kernel do not fit the groups");
  if (const auto kernel = node.integers("kernel_shape"))
    node.refuse_unless(*kernel == spatial_shape(w), "attribute 'kernel_shape' is not the kernel's shape");
  if (node.has(2))
    node.refuse_unless(node.shape(2) == Shape{w[0]} && node.dtype(2) == node.dtype(0),
                       "the bias is not one value for each output channel");
}

std::string convolved(const NodeReader& node, const Window& window, int64_t groups,
                      const std::string& source) {
  const DType dtype = node.dtype(0);
  const Shape& w = node.shape(1);
  const std::string group = groups == 1 ? "" : fmt::format("i1 // {}", w[0] / groups);
  const ConvolutionTerms terms = convolution_terms(window, w, group);
  return reduction("sum", terms.axes, terms.extents,
                   convert(dtype, wide(dtype), element(source, terms.x_at)) + " * " +
                       convert(dtype, wide(dtype), element(in(1), terms.w_at)));
}

Computation conv(const NodeReader& node) {
  const int64_t groups = node.integer("group", 1);
  check_convolution(node, groups);
  const DType dtype = node.dtype(0);
  const Shape& x = node.shape(0);
  const Window window = read_window(node, spatial_shape(x), spatial_shape(node.shape(1)));
  Shape shape{x[0], node.shape(1)[0]};
  shape.insert(shape.end(), window.output.begin(), window.output.end());

  const bool has_bias = node.has(2);
  const bool is_rounded = wide(dtype) != dtype;
  std::string text = window.is_padded() ? padded(window, x) : "";
  const std::string sum = has_bias || is_rounded ? temporary(1) : out(0);
  text += statement(sum, shape, convolved(node, window, groups, window.is_padded() ? temporary(0) : in(0)));
  if (has_bias || is_rounded) {
    std::string value = broadcast(sum, shape, shape);
    if (has_bias) value += " + " + convert(dtype, wide(dtype), element(in(2), {"i1"}));
    text += statement(out(0), shape, convert(wide(dtype), dtype, value));
  }
  return computed(dtype, shape, text);
}

Computation fused_conv(const NodeReader& node) {
  node.refuse_unless(!node.has(3), "its input 'Z', which is added, is not taken");
  return with_activation(conv)(node);
}

}  // namespace

std::vector<Row> convolution_operators() {
  return {{"Conv", 1, conv, false, true}, {"com.microsoft.FusedConv", 1, fused_conv, false, true}};
}

}  // namespace tunesmith::operators_onnx
