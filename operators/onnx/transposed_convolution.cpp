// Transposed convolutions: W is [input channels, output channels of a group, ...].
#include <algorithm>

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "registry.h"
#include "statements.h"
#include "window.h"

namespace tunesmith::operators_onnx {
namespace {

/// The padding is what is removed from each side of the result.
Window transposed_window(const NodeReader& node) {
  const Shape input = spatial_shape(node.shape(0));
  const size_t rank = input.size();
  Window window{spatial_shape(node.shape(1)),
                spatial_attribute(node, "strides", rank, 1),
                spatial_attribute(node, "dilations", rank, 1),
                Shape(rank, 0),
                Shape(rank, 0),
                Shape(rank, 0)};
  const Shape more = spatial_attribute(node, "output_padding", rank, 0);
  const Shape pads = spatial_attribute(node, "pads", 2 * rank, 0);
  const std::string automatic = node.choice("auto_pad", {"NOTSET", "SAME_UPPER", "SAME_LOWER", "VALID"});
  const bool same = automatic.starts_with("SAME");
  const auto given = node.integers("output_shape");
  node.refuse_unless(!given || given->size() == rank,
                     "attribute 'output_shape' has not one value for each spatial axis");
  for (size_t i = 0; i < rank; ++i) {
    node.refuse_unless(window.strides[i] >= 1 && window.dilations[i] >= 1, "a stride or dilation is below 1");
    const int64_t full = window.strides[i] * (input[i] - 1) + more[i] + window.reach(i);
    if (given || same) {
      window.output[i] = given ? (*given)[i] : input[i] * window.strides[i];
      const int64_t total = std::max<int64_t>(full - window.output[i], 0);
      // Before version 11 the odd element was removed from the other side.
      const bool less_at_begin = (automatic == "SAME_UPPER") == (node.version() >= 11);
      window.begin[i] = less_at_begin ? total / 2 : total - total / 2;
    } else {
      window.begin[i] = pads[i];
      window.output[i] = full - pads[i] - pads[rank + i];
    }
    node.refuse_unless(window.begin[i] >= 0 && window.output[i] > 0,
                       "its padding leaves no output, or is negative");
  }
  return window;
}

/// The shapes that both forms below use.
struct Transposed {
  Window window;
  Shape input;
  int64_t channels;  ///< input channels of a group
  int64_t filters;   ///< output channels of a group
  int64_t groups;

  std::string channel() const {
    return groups == 1 ? "r0" : fmt::format("i1 // {} * {} + r0", filters, channels);
  }
  std::string filter() const { return groups == 1 ? "i1" : fmt::format("i1 % {}", filters); }
  std::string at(size_t axis) const { return fmt::format("i{} + {}", 2 + axis, window.begin[axis]); }
};

/// Visits only taps that meet an input element. t0 is the input with zeros around it.
std::string by_taps(const Transposed& t, DType dtype, const std::string& target, const Shape& shape) {
  Shape padded{t.input[0], t.input[1]};
  Indices from{"i0", "i1"};
  Indices x_at{"i0", t.channel()};
  Indices w_at{t.channel(), t.filter()};
  Shape extents{t.channels};
  for (size_t i = 0; i < t.window.rank(); ++i) {
    const int64_t stride = t.window.strides[i];
    const int64_t taps = (t.window.kernel[i] + stride - 1) / stride;
    padded.push_back((t.window.output[i] - 1 + t.window.begin[i]) / stride + taps);
    from.push_back(fmt::format("i{} - {}", 2 + i, taps - 1));
    x_at.push_back(fmt::format("({}) // {} - r{} + {}", t.at(i), stride, 1 + i, taps - 1));
    w_at.push_back(fmt::format("({}) % {} + r{}*{}", t.at(i), stride, 1 + i, stride));
    extents.push_back(taps);
  }
  const std::string term = to_wide(dtype, element(temporary(0), x_at)) + " * " +
                           to_wide(dtype, fmt::format("inside({}, 0)", element(in(1), w_at)));
  return statement(temporary(0), padded, fmt::format("inside({}, 0)", element(in(0), from))) +
         statement(target, shape, reduction("sum", axis_names(extents.size(), 'r'), extents, term));
}

/// Tests each tap, since dilated taps meet input elements irregularly.
std::string by_condition(const Transposed& t, DType dtype, const std::string& target, const Shape& shape) {
  Indices x_at{"i0", t.channel()};
  Indices w_at{t.channel(), t.filter()};
  Shape extents{t.channels};
  std::string condition;
  for (size_t i = 0; i < t.window.rank(); ++i) {
    const int64_t stride = t.window.strides[i];
    const std::string from = fmt::format("({} - r{}*{})", t.at(i), 1 + i, t.window.dilations[i]);
    if (stride != 1)
      condition += fmt::format("{}{} % {} == 0", condition.empty() ? "" : " and ", from, stride);
    x_at.push_back(fmt::format("{} // {}", from, stride));
    w_at.push_back(fmt::format("r{}", 1 + i));
    extents.push_back(t.window.kernel[i]);
  }
  std::string value = fmt::format("inside({}, 0)", element(in(0), x_at));
  if (!condition.empty()) value = fmt::format("select({}, {}, 0)", condition, value);
  const std::string term = to_wide(dtype, value) + " * " + to_wide(dtype, element(in(1), w_at));
  return statement(target, shape, reduction("sum", axis_names(extents.size(), 'r'), extents, term));
}

Computation conv_transpose(const NodeReader& node) {
  const int64_t groups = node.integer("group", 1);
  check_convolution(node, groups, true);
  const DType dtype = node.dtype(0);
  const Shape& x = node.shape(0);
  const int64_t filters = node.shape(1)[1];
  const Transposed t{transposed_window(node), x, x[1] / groups, filters, groups};
  const Shape shape = t.window.result(x[0], filters * groups);
  const bool dilated =
      std::ranges::any_of(t.window.dilations, [](int64_t dilation) { return dilation != 1; });
  return with_bias(node, shape, out(0), [&](const std::string& sum) {
    return dilated ? by_condition(t, dtype, sum, shape) : by_taps(t, dtype, sum, shape);
  });
}

/// Puts an image's windows, one in each column, back in place, and adds them where they overlap.
Computation columns_to_image(const NodeReader& node) {
  const Shape& x = node.shape(0);
  const Shape image = node.integers_of(1, "image_shape"), kernel = node.integers_of(2, "block_shape");
  const size_t rank = image.size();
  const Shape strides = spatial_attribute(node, "strides", rank, 1);
  const Shape dilations = spatial_attribute(node, "dilations", rank, 1);
  const Shape pads = spatial_attribute(node, "pads", 2 * rank, 0);
  node.refuse_unless(rank >= 1 && kernel.size() == rank && x.size() == 3 && !node.dtype(0).is_bool(),
                     "expected [batch, channels * elements of a window, windows] of numbers");
  Shape shape{x[0], x[1] / element_count(kernel)}, windows;
  std::vector<std::string> conditions;
  Indices of_window, axes = axis_names(rank, 'r');
  for (size_t i = 0; i < rank; ++i) {
    const int64_t room = image[i] + pads[i] + pads[rank + i] - dilations[i] * (kernel[i] - 1) - 1;
    node.refuse_unless(room >= 0 && strides[i] >= 1 && kernel[i] >= 1, "the window is larger than the image");
    windows.push_back(room / strides[i] + 1);
    shape.push_back(image[i]);
    const std::string begin = fmt::format("(i{} + {} - r{}*{})", 2 + i, pads[i], i, dilations[i]);
    conditions.push_back(fmt::format("{0} >= 0 and {0} <= {1}", begin, (windows[i] - 1) * strides[i]));
    if (strides[i] > 1) conditions.push_back(fmt::format("{} % {} == 0", begin, strides[i]));
    of_window.push_back(fmt::format("max(0, min({}, {} // {}))", windows[i] - 1, begin, strides[i]));
  }
  node.refuse_unless(x[1] == shape[1] * element_count(kernel) && x[2] == element_count(windows),
                     "the input's shape is not that of the image's windows");
  const std::string row = fmt::format("i1*{} + {}", element_count(kernel), linear(axes, kernel));
  const std::string value = to_wide(node.dtype(0), element(in(0), {"i0", row, linear(of_window, windows)}));
  return computed(node.dtype(0), shape,
                  summed(node.dtype(0), shape, axes, kernel,
                         fmt::format("select({}, {}, 0)", fmt::join(conditions, " and "), value)));
}

}  // namespace

std::vector<Row> transposed_convolution_operators() {
  return {{"ConvTranspose", 1, conv_transpose}, {"Col2Im", 18, columns_to_image}};
}

}  // namespace tunesmith::operators_onnx
