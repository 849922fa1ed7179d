// Convolutions: X is [batch, channels, ...], W is [output channels, channels of a group, ...].
#include <fmt/format.h>

#include "registry.h"
#include "statements.h"
#include "window.h"

namespace tunesmith::operators_onnx {
namespace {

std::string convolved(const NodeReader& node, const Window& window, int64_t groups,
                      const std::string& source) {
  const DType dtype = node.dtype(0);
  const Shape& w = node.shape(1);
  const std::string group = groups == 1 ? "" : fmt::format("i1 // {}", w[0] / groups);
  const ConvolutionTerms terms = convolution_terms(window, w, group);
  return reduction(
      "sum", terms.axes, terms.extents,
      to_wide(dtype, element(source, terms.x_at)) + " * " + to_wide(dtype, element(in(1), terms.w_at)));
}

/// t0 is the input with zeros around it.
Computation conv(const NodeReader& node, std::string_view result) {
  const int64_t groups = node.integer("group", 1);
  check_convolution(node, groups, false);
  const Shape& x = node.shape(0);
  const Window window = read_window(node, spatial_shape(x), spatial_shape(node.shape(1)));
  const Shape shape = window.result(x[0], node.shape(1)[0]);
  return with_bias(node, shape, result, [&](const std::string& sum) {
    if (!window.is_padded()) return statement(sum, shape, convolved(node, window, groups, in(0)));
    const auto [with_zeros, value] = padded(window, x, in(0), "0");
    return statement(temporary(0), with_zeros, value) +
           statement(sum, shape, convolved(node, window, groups, temporary(0)));
  });
}

Computation fused_conv(const NodeReader& node) {
  node.refuse_unless(!node.has(3), "its input 'Z', which is added, is not taken");
  return with_activation(conv)(node);
}

}  // namespace

std::vector<Row> convolution_operators() {
  return {{"Conv", 1, [](const NodeReader& node) { return conv(node, out(0)); }, false, true},
          {"com.microsoft.FusedConv", 1, fused_conv, false, true}};
}

}  // namespace tunesmith::operators_onnx
